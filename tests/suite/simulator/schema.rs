//! What the simulator hands out is what Argo CD's API hands out: samples of it against the published
//! description of that API.

use super::history;
use super::peers::{Peer, wait};
use super::server::Server;
use crate::support::argocd_schema::Schema;
use serde_json::json;

#[test]
fn simulated_applications_are_as_argo_cd_describes_them() {
    let Some(schema) = Schema::load() else { return };
    for seed in 0..12 {
        let history = history::draw(seed);
        let mut server = Server::new(history.world);
        server.world.advance(history.call.starts);
        wait(Peer::Predicate { without: None }, history.call.dwell, &mut server);
        let application = server.application();
        let found = application.map(|one| schema.faults("v1alpha1Application", &one));
        assert_eq!(found.unwrap_or_default(), [""; 0], "seed {seed}");
        let managed = json!({ "items": server.managed().unwrap_or_default() });
        let found = schema.faults("applicationManagedResourcesResponse", &managed);
        assert_eq!(found, [""; 0], "seed {seed}");
    }
}
