//! `overlay probe`: tries of endpoints at a steady pace, alone or beside another command.
//!
//! Try k begins k intervals after the start, however long those before it take: each has a thread of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, Scope};
use std::time::Duration;

use super::Context;
use crate::clock::{self, Deadline, Stopwatch};
use crate::error::{Error, codes};
use crate::http::{Address, Client, HttpError, Options, Proxies, Request, Trust};
use crate::probe::{Expect, Outcome, Tally, Try};
use crate::process::Beside;
use crate::report::Report;
use crate::report::probe::{CommandEnd, Ended, ProbeReport, Target};

/// The most tries that wait for their answers at one time.
const MOST_WAITING: usize = 256;
/// How often the command beside is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What the user asks of `overlay probe`.
#[derive(Clone, Debug)]
pub struct ProbeRequest {
    /// The addresses.
    pub urls: Vec<String>,
    /// The time between two tries.
    pub interval: Duration,
    /// For how long, where no command runs beside.
    pub length: Duration,
    /// How long one try may take.
    pub patience: Duration,
    /// Which statuses are a success.
    pub expect: Expect,
    /// The authorities that servers are judged by, in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// Whether certificates are not checked.
    pub is_insecure: bool,
    /// Whether redirects are followed.
    pub follows_redirects: bool,
    /// How many failures are allowed, over all addresses.
    pub most_failures: u64,
    /// The command that runs beside: its program and arguments.
    pub command: Vec<OsString>,
}

/// Probes.
///
/// # Errors
/// Where an address is none, or the command cannot be started. What was found is in the report.
pub fn run(context: &Context, request: &ProbeRequest) -> Result<Report, Error> {
    let wrong = |error: HttpError| Error::new(codes::USAGE, error.to_string());
    let addresses: Vec<Address> = request
        .urls
        .iter()
        .map(|url| Address::parse(url).map_err(wrong))
        .collect::<Result<_, _>>()?;
    let client = Client::new(&options(context, request)?);
    let mut beside = match request.command.split_first() {
        None => None,
        Some((program, args)) => {
            let started = Beside::start(program, args, &context.cwd);
            Some(
                started
                    .map_err(|error| Error::new(codes::COMMAND_NOT_STARTED, error.to_string()))?,
            )
        }
    };
    let started_at = clock::now_unix();
    let course = Course {
        context,
        request,
        addresses: &addresses,
        client: &client,
        watch: Stopwatch::start(),
        waiting: AtomicUsize::new(0),
    };
    let (tallies, ended) = course.run(beside.as_mut())?;
    let lasted = course.watch.elapsed();
    // A command that did not end in time goes now.
    drop(beside);
    let targets = addresses.iter().zip(tallies);
    let report = ProbeReport {
        targets: targets
            .map(|(address, tally)| Target { address: address.to_string(), tally })
            .collect(),
        started_at,
        lasted,
        interval: request.interval,
        expect: request.expect.to_string(),
        most_failures: request.most_failures,
        command: request.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ended,
    };
    Ok(report.into_report())
}

fn options(context: &Context, request: &ProbeRequest) -> Result<Options, Error> {
    let extra_roots: Vec<PathBuf> =
        request.ca_file.iter().map(|file| context.cwd.join(file)).collect();
    if let Some(file) = extra_roots.iter().find(|file| !file.is_file()) {
        return Err(Error::new(codes::NO_SUCH_FILE, format!("{}: no such file", file.display())));
    }
    let trust = match (request.is_insecure, extra_roots.is_empty()) {
        (true, _) => Trust::Anybody,
        (false, true) => Trust::Authorities,
        (false, false) => Trust::ExtraRoots,
    };
    Ok(Options {
        connect_timeout: request.patience,
        extra_roots,
        proxies: Proxies::from_variables(&context.environment.variables),
        trust,
        follows_redirects: request.follows_redirects,
        keeps_connections: false,
        ..Options::default()
    })
}

/// What is known while it goes on.
struct Course<'c> {
    context: &'c Context,
    request: &'c ProbeRequest,
    addresses: &'c [Address],
    client: &'c Client,
    watch: Stopwatch,
    /// How many tries wait for their answers.
    waiting: AtomicUsize,
}

impl Course<'_> {
    /// Makes all tries, and waits for the last of them.
    fn run(&self, beside: Option<&mut Beside>) -> Result<(Vec<Tally>, Ended), Error> {
        let (done, results) = channel();
        let mut left_out = vec![0; self.addresses.len()];
        let ended =
            std::thread::scope(|scope| self.begin_tries(scope, &done, &mut left_out, beside))?;
        drop(done);
        let mut tries: Vec<Vec<Try>> = vec![Vec::new(); self.addresses.len()];
        for (of, one) in results {
            tries[of].push(one);
        }
        let tallies = tries.into_iter().zip(left_out).map(|(tries, out)| Tally::of(tries, out));
        Ok((tallies.collect(), ended))
    }

    fn begin_tries<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        done: &Sender<(usize, Try)>,
        left_out: &mut [u64],
        mut beside: Option<&mut Beside>,
    ) -> Result<Ended, Error> {
        let mut number = 0;
        loop {
            if let Some(ended) = self.sleep_until(self.due(number), beside.as_deref_mut())? {
                return Ok(ended);
            }
            for (of, out) in left_out.iter_mut().enumerate() {
                if self.waiting.load(Ordering::Relaxed) >= MOST_WAITING {
                    *out += 1;
                    continue;
                }
                self.waiting.fetch_add(1, Ordering::Relaxed);
                let done = done.clone();
                let thread = Builder::new().name("probe".into());
                let started = thread.spawn_scoped(scope, move || {
                    let _ = done.send((of, self.make_try(of, number)));
                    self.waiting.fetch_sub(1, Ordering::Relaxed);
                });
                started
                    .map_err(|error| Error::new(codes::INTERNAL, format!("no thread: {error}")))?;
            }
            // After a sleep of the whole machine the tries that were missed are not made up for.
            let next = number + 1;
            number = next.max(self.number_at(self.watch.elapsed()));
            left_out.iter_mut().for_each(|out| *out += number - next);
        }
    }

    fn due(&self, number: u64) -> Duration {
        let nanoseconds = self.request.interval.as_nanos().saturating_mul(u128::from(number));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// The last try that is due at that time.
    fn number_at(&self, at: Duration) -> u64 {
        u64::try_from(at.as_nanos() / self.request.interval.as_nanos().max(1)).unwrap_or(u64::MAX)
    }

    /// Sleeps until then, or to the end of the probe.
    fn sleep_until(
        &self,
        due: Duration,
        mut beside: Option<&mut Beside>,
    ) -> Result<Option<Ended>, Error> {
        if beside.is_none() && due >= self.request.length {
            return Ok(Some(Ended::Time));
        }
        loop {
            if let Some(beside) = beside.as_deref_mut() {
                let polled = beside.poll();
                let failed = |error: std::io::Error| Error::new(codes::INTERNAL, error.to_string());
                if let Some(status) = polled.map_err(failed)? {
                    return Ok(Some(Ended::Command(CommandEnd::of(status.code()))));
                }
                if self.context.timeout.is_some_and(|most| self.watch.elapsed() >= most) {
                    return Ok(Some(Ended::Command(CommandEnd::TooSlow)));
                }
            }
            let left = due.saturating_sub(self.watch.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            clock::sleep(if beside.is_some() { left.min(LOOK) } else { left });
        }
    }

    fn make_try(&self, of: usize, number: u64) -> Try {
        let at = self.watch.elapsed();
        let address = &self.addresses[of];
        let request = Request::get(address.clone()).header("Cache-Control", "no-cache");
        let answer = self.client.send(&request, Deadline::after(self.request.patience));
        let took = self.watch.elapsed().saturating_sub(at);
        let outcome = Outcome::of(answer.map(|answer| answer.status), &self.request.expect);
        if let (Outcome::Failure { message, .. }, Some(progress)) =
            (&outcome, &self.context.progress)
        {
            let shown = address.to_string();
            let message = message.strip_prefix(&format!("{shown}: ")).unwrap_or(message);
            progress.say(&format!("+{:.1}s {shown}: {message}", at.as_secs_f64()));
        }
        Try { number, at, took, outcome }
    }
}
