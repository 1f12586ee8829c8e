//! Values that stand in several places of one resource and are one value for kustomize.
//!
//! When a label or an annotation is added, kyaml puts one and the same node into every field of the
//! resource that gets it. Whatever writes that node later (a patch of one of the places, another
//! label transformer, a replacement) changes all of them. Here each place holds its own scalar; the
//! ones that are one node carry the same number, and [`settle`] carries a change to the others.
//!
//! Source: kustomize `api/filters/filtersutil/setters.go` (`SetEntry` makes one node for all calls),
//! kyaml `FieldSetter` (adds that node, or overwrites in place).

use crate::kustomize::node::{Node, Scalar, Style, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::resource::Resource;

/// Says that a place was written, also with what it held before.
const WRITTEN: u32 = 1 << 31;

/// The number of a place that was written.
pub(crate) fn written(number: u32) -> u32 {
    if number == 0 { 0 } else { number | WRITTEN }
}

/// What every place of one shared value held when it was last the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedValue {
    scalar: Scalar,
    origin: Origin,
}

/// Makes `node` a shared value of `resource` and returns it for the first of its places.
pub(crate) fn share(shared: &mut Vec<SharedValue>, mut node: Node) -> Node {
    let number = u32::try_from(shared.len() + 1).unwrap_or(0);
    if let Value::Scalar(scalar) = &mut node.value {
        scalar.shared = number;
        shared.push(SharedValue { scalar: scalar.clone(), origin: node.origin });
    }
    node
}

/// Carries what was written to one place of a shared value to its other places.
///
/// To be called after everything that may write a label or an annotation in place.
pub(crate) fn settle(resource: &mut Resource) {
    if resource.shared.is_empty() {
        return;
    }
    let mut changed = false;
    let mut now = resource.shared.clone();
    find_changes(&resource.node, &resource.shared, &mut |at, value| {
        changed = true;
        now[at] = value;
    });
    if changed {
        resource.shared = now;
        write_all(&mut resource.node, &resource.shared);
    }
}

/// Writes a shared value in this style in all of its places. Of several the next patch that comes to one gives it quotes where
/// it needs them.
pub(crate) fn restyle(resource: &mut Resource, value: &Node, style: Style) {
    let mut value = value.clone();
    let Some(scalar) = value.as_scalar_mut() else { return };
    scalar.style = style;
    let number = scalar.shared;
    if places_of(&resource.node, number) > 1 {
        value.quote_if_yaml_1_1_differs();
    }
    let style = value.as_scalar().map_or(style, |scalar| scalar.style);
    if let Some(at) = value.as_scalar().and_then(|scalar| index(scalar, &resource.shared)) {
        resource.shared[at].scalar.style = style;
    }
    restyle_below(&mut resource.node, number, style);
}

fn places_of(node: &Node, number: u32) -> usize {
    match &node.value {
        Value::Scalar(scalar) => usize::from(scalar.shared == number),
        Value::Seq(items) => items.iter().map(|item| places_of(item, number)).sum(),
        Value::Map(map) => map.entries().iter().map(|entry| places_of(&entry.value, number)).sum(),
    }
}

fn restyle_below(node: &mut Node, number: u32, style: Style) {
    match &mut node.value {
        Value::Scalar(scalar) if scalar.shared == number => scalar.style = style,
        Value::Scalar(_) => {}
        Value::Seq(items) => items.iter_mut().for_each(|item| restyle_below(item, number, style)),
        Value::Map(map) => {
            let entries = map.entries_mut().iter_mut();
            entries.for_each(|entry| restyle_below(&mut entry.value, number, style));
        }
    }
}

/// Ends all sharing: the resource was printed and read again, as JSON patches do.
pub(crate) fn forget(resource: &mut Resource) {
    if !resource.shared.is_empty() {
        resource.shared.clear();
        clear_numbers(&mut resource.node);
    }
}

fn index(scalar: &Scalar, shared: &[SharedValue]) -> Option<usize> {
    let index = usize::try_from(scalar.shared & !WRITTEN).ok()?.checked_sub(1)?;
    (index < shared.len()).then_some(index)
}

/// In the order in which a strategic merge walks: sorted by key. The last change counts.
fn find_changes(node: &Node, before: &[SharedValue], report: &mut impl FnMut(usize, SharedValue)) {
    match &node.value {
        Value::Scalar(scalar) => {
            let Some(at) = index(scalar, before) else { return };
            let old = &before[at].scalar;
            let is_written = scalar.shared & WRITTEN != 0;
            if is_written || scalar.text != old.text || scalar.tag != old.tag {
                let scalar = Scalar { shared: old.shared, ..scalar.clone() };
                report(at, SharedValue { scalar, origin: node.origin });
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| find_changes(item, before, report)),
        Value::Map(map) => {
            let mut entries: Vec<_> = map.entries().iter().collect();
            entries.sort_by(|a, b| a.key.text.cmp(&b.key.text));
            entries.iter().for_each(|entry| find_changes(&entry.value, before, report));
        }
    }
}

fn write_all(node: &mut Node, shared: &[SharedValue]) {
    match &mut node.value {
        Value::Scalar(scalar) => {
            if let Some(at) = index(scalar, shared) {
                scalar.clone_from(&shared[at].scalar);
                node.origin = shared[at].origin;
            }
        }
        Value::Seq(items) => items.iter_mut().for_each(|item| write_all(item, shared)),
        Value::Map(map) => {
            map.entries_mut().iter_mut().for_each(|entry| write_all(&mut entry.value, shared));
        }
    }
}

/// Makes a copy a value of its own.
pub(crate) fn clear_numbers(node: &mut Node) {
    match &mut node.value {
        Value::Scalar(scalar) => scalar.shared = 0,
        Value::Seq(items) => items.iter_mut().for_each(clear_numbers),
        Value::Map(map) => {
            map.entries_mut().iter_mut().for_each(|entry| clear_numbers(&mut entry.value));
        }
    }
}
