//! `overlay probe`: tries of endpoints at a steady pace, alone or beside another command.
//!
//! Try k begins k intervals after the start, however long those before it take: each has a thread of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;

use super::Context;
use crate::clock::{self, Deadline, Stopwatch};
use crate::error::{Error, codes};
use crate::http::{Address, Client, HttpError, Options, Proxies, Request, Trust};
use crate::probe::{Expect, Outcome, Tally, Try};
use crate::process::{Beside, Interrupts, ProcessError};
use crate::report::Report;
use crate::report::probe::{CommandEnd, Ended, ProbeReport, Target};

/// The most tries that wait for their answers at one time.
const MOST_WAITING: usize = 256;
/// How often it is looked whether to end: the command beside, a signal.
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

impl Default for ProbeRequest {
    /// Of no address yet: each half a second, for half a minute, with 5 seconds for each try, and no failure.
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            interval: Duration::from_millis(500),
            length: Duration::from_secs(30),
            patience: Duration::from_secs(5),
            expect: Expect::default(),
            ca_file: None,
            is_insecure: false,
            follows_redirects: false,
            most_failures: 0,
            command: Vec::new(),
        }
    }
}

/// Probes.
///
/// # Errors
/// Where an address is none, or the command cannot be started. What was found is in the report.
pub fn run(context: &Context, request: &ProbeRequest) -> Result<Report, Error> {
    let prepared = Prepared::new(context, request)?;
    let signals = Signals::watch()?;
    let mut beside = start_beside(context, &request.command)?;
    let until = match beside.as_mut() {
        None => Until::Time(request.length, &signals),
        Some(beside) => Until::Command(beside, &signals),
    };
    let report = prepared.run(context, request, until)?;
    Ok(report.into_report())
}

/// Starts the command, if there is one. The word `overlay` is this program, wherever it was started from.
fn start_beside(context: &Context, command: &[OsString]) -> Result<Option<Beside>, Error> {
    let Some((program, args)) = command.split_first() else { return Ok(None) };
    let ours = (program == "overlay").then(std::env::current_exe).and_then(Result::ok);
    let program = ours.map_or_else(|| program.clone(), PathBuf::into_os_string);
    let started = Beside::start(&program, args, &context.cwd);
    let failed = |error: ProcessError| Error::new(codes::COMMAND_NOT_STARTED, error.to_string());
    started.map(Some).map_err(failed)
}

/// The signals that come while it goes on.
struct Signals {
    interrupts: Interrupts,
    /// How many were handed on to the command.
    handed_on: AtomicUsize,
}

impl Signals {
    fn watch() -> Result<Self, Error> {
        let failed =
            |error: std::io::Error| Error::new(codes::INTERNAL, format!("signals: {error}"));
        let interrupts = Interrupts::watch().map_err(failed)?;
        Ok(Self { interrupts, handed_on: AtomicUsize::new(0) })
    }
}

/// What ends a probe from outside, and marks a moment of it.
#[derive(Debug)]
pub(super) struct Leash {
    tries: AtomicU64,
    is_marked: AtomicBool,
}

impl Leash {
    /// One that lets a probe go on.
    pub(super) fn new() -> Self {
        Self { tries: AtomicU64::new(u64::MAX), is_marked: AtomicBool::new(false) }
    }

    /// Ends the probe as soon as it has made this many tries of each address.
    pub(super) fn end_after(&self, tries: u64) {
        self.tries.store(tries, Ordering::Relaxed);
    }

    /// The failures of tries that begin from now on are counted apart too.
    pub(super) fn mark(&self) {
        self.is_marked.store(true, Ordering::Relaxed);
    }

    fn is_over(&self, number: u64) -> bool {
        number >= self.tries.load(Ordering::Relaxed)
    }
}

/// When a probe ends.
enum Until<'u> {
    /// This long after it began, or with a signal.
    Time(Duration, &'u Signals),
    /// With the command beside it, which signals are handed on to.
    Command(&'u mut Beside, &'u Signals),
    /// When it is told to.
    Told(&'u Leash),
}

/// Where a probe goes, and by what.
pub(super) struct Prepared {
    addresses: Vec<Address>,
    client: Client,
}

impl Prepared {
    /// Reads what the user wrote; nothing is sent.
    ///
    /// # Errors
    /// Where an address is none, or a file is not there or holds no authority.
    pub(super) fn new(context: &Context, request: &ProbeRequest) -> Result<Self, Error> {
        if context.offline {
            return Err(Error::new(codes::USAGE, "--offline: no endpoint is asked"));
        }
        let wrong = |error: HttpError| Error::new(codes::USAGE, error.to_string());
        let addresses = request.urls.iter().map(|url| Address::parse(url).map_err(wrong));
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        let prepared = Self { addresses, client: Client::new(&options(context, request)?) };
        if prepared.addresses.iter().any(|address| address.origin().secure) {
            prepared.client.prepare_tls().map_err(unreadable)?;
        }
        Ok(prepared)
    }

    /// Makes one try of each address.
    ///
    /// # Errors
    /// Where the machine has no thread left.
    pub(super) fn once(
        &self,
        context: &Context,
        request: &ProbeRequest,
    ) -> Result<ProbeReport, Error> {
        let leash = Leash::new();
        leash.end_after(1);
        self.on_leash(context, request, &leash)
    }

    /// Probes until `leash` ends it.
    ///
    /// # Errors
    /// Where the machine has no thread left.
    pub(super) fn on_leash(
        &self,
        context: &Context,
        request: &ProbeRequest,
        leash: &Leash,
    ) -> Result<ProbeReport, Error> {
        self.run(context, request, Until::Told(leash))
    }

    fn run(
        &self,
        context: &Context,
        request: &ProbeRequest,
        mut until: Until<'_>,
    ) -> Result<ProbeReport, Error> {
        let started_at = clock::now_unix_milliseconds();
        let course = Course {
            context,
            request,
            addresses: &self.addresses,
            client: &self.client,
            watch: Stopwatch::start(),
            waiting: AtomicUsize::new(0),
            tallies: Mutex::new(vec![Tally::new(request.interval); self.addresses.len()]),
            leash: match until {
                Until::Told(leash) => Some(leash),
                Until::Time(..) | Until::Command(..) => None,
            },
        };
        let ended = course.run(&mut until)?;
        let lasted = course.watch.elapsed();
        let tallies = course.tallies.into_inner().unwrap_or_else(PoisonError::into_inner);
        let command = request.command.iter().map(|word| word.to_string_lossy().into_owned());
        let targets = self.addresses.iter().zip(tallies);
        Ok(ProbeReport {
            targets: targets
                .map(|(address, tally)| Target { address: address.to_string(), tally })
                .collect(),
            started_at,
            lasted,
            interval: request.interval,
            expect: request.expect.to_string(),
            most_failures: request.most_failures,
            command: command.collect(),
            ended,
        })
    }
}

fn unreadable(error: HttpError) -> Error {
    Error::new(codes::CERTIFICATE_UNREADABLE, error.to_string())
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
    /// What the tries of each address have come to.
    tallies: Mutex<Vec<Tally>>,
    /// Who may mark a moment.
    leash: Option<&'c Leash>,
}

impl Course<'_> {
    /// Makes all tries, and waits for the last of them.
    fn run(&self, until: &mut Until<'_>) -> Result<Ended, Error> {
        std::thread::scope(|scope| {
            let ended = self.begin_tries(scope, until);
            if let Until::Time(_, signals) | Until::Command(_, signals) = until {
                // Whoever does not want to wait for the last answers either can end the program.
                signals.interrupts.stop_watching();
            }
            ended
        })
    }

    fn tallies(&self) -> MutexGuard<'_, Vec<Tally>> {
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_tries<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        until: &mut Until<'_>,
    ) -> Result<Ended, Error> {
        let mut number = 0;
        loop {
            if let Some(ended) = self.sleep_until_due(number, until)? {
                return Ok(ended);
            }
            for of in 0..self.addresses.len() {
                if self.waiting.load(Ordering::Relaxed) >= MOST_WAITING {
                    self.tallies()[of].left_out += 1;
                    continue;
                }
                self.waiting.fetch_add(1, Ordering::Relaxed);
                self.tallies()[of].begin(number);
                let thread = Builder::new().name("probe".into());
                let started = thread.spawn_scoped(scope, move || {
                    let is_marked =
                        self.leash.is_some_and(|leash| leash.is_marked.load(Ordering::Relaxed));
                    let one = self.make_try(of, number);
                    self.tallies()[of].end(one, is_marked);
                    self.waiting.fetch_sub(1, Ordering::Relaxed);
                });
                started
                    .map_err(|error| Error::new(codes::INTERNAL, format!("no thread: {error}")))?;
            }
            // After a sleep of the whole machine the tries that were missed are not made up for.
            let next = number + 1;
            number = next.max(self.number_at(self.watch.elapsed()));
            self.tallies().iter_mut().for_each(|tally| tally.left_out += number - next);
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

    /// Sleeps until the try of this number is due, or to the end of the probe.
    fn sleep_until_due(&self, number: u64, until: &mut Until<'_>) -> Result<Option<Ended>, Error> {
        let due = self.due(number);
        loop {
            let ended = match until {
                Until::Time(length, _) if due >= *length => Some(Ended::Time),
                Until::Time(_, signals) => signals.interrupts.next().map(|_| Ended::Signal),
                // However quick the command is, one try is made.
                Until::Command(..) if number == 0 => None,
                Until::Command(beside, signals) => {
                    self.end_of(beside, signals)?.map(Ended::Command)
                }
                Until::Told(leash) => leash.is_over(number).then_some(Ended::Time),
            };
            let left = due.saturating_sub(self.watch.elapsed());
            if ended.is_some() || left.is_zero() {
                return Ok(ended);
            }
            clock::sleep(left.min(LOOK));
        }
    }

    /// How the command beside ended, or was ended here.
    fn end_of(&self, beside: &mut Beside, signals: &Signals) -> Result<Option<CommandEnd>, Error> {
        let ended = self.look_after(beside, signals)?;
        if matches!(ended, Some(CommandEnd::Killed | CommandEnd::TooSlow)) {
            beside.end();
        }
        Ok(ended)
    }

    /// A signal is handed on to the command, and what it does then is its end; a second one ends it.
    fn look_after(
        &self,
        beside: &mut Beside,
        signals: &Signals,
    ) -> Result<Option<CommandEnd>, Error> {
        let failed = |error: std::io::Error| Error::new(codes::INTERNAL, error.to_string());
        if let Some(status) = beside.poll().map_err(failed)? {
            return Ok(Some(CommandEnd::of(status.code())));
        }
        if let Some(signal) = signals.interrupts.next() {
            if signals.handed_on.fetch_add(1, Ordering::Relaxed) > 0 {
                return Ok(Some(CommandEnd::Killed));
            }
            beside.hand_on(signal);
        }
        let is_over = self.context.timeout.is_some_and(|most| self.watch.elapsed() >= most);
        Ok(is_over.then_some(CommandEnd::TooSlow))
    }

    /// How long a try may take; `--timeout` is the command's where there is one.
    fn patience(&self) -> Duration {
        let most = self.context.timeout.filter(|_| self.request.command.is_empty());
        most.map_or(self.request.patience, |most| most.min(self.request.patience))
    }

    fn make_try(&self, of: usize, number: u64) -> Try {
        let at = self.watch.elapsed();
        let address = &self.addresses[of];
        let request = Request::get(address.clone()).header("Cache-Control", "no-cache");
        let answer = self.client.send(&request, Deadline::after(self.patience()));
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
