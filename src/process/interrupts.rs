//! Signals that ask the program to end, for work that has something to tell before it does. Where there are no such signals,
//! none ever comes.

#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A signal that asks to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// SIGINT, which Ctrl-C sends to all programs of a terminal.
    Interrupt,
    /// SIGTERM, which other programs send, to one.
    Terminate,
}

/// The signals that come.
#[derive(Debug)]
pub struct Interrupts {
    #[cfg(unix)]
    last: Arc<AtomicUsize>,
    #[cfg(unix)]
    is_over: Arc<AtomicBool>,
}

impl Interrupts {
    /// From now on such signals no longer end the program but are kept for [`Interrupts::next`].
    ///
    /// # Errors
    /// As the operating system says.
    #[cfg(unix)]
    pub fn watch() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag;
        let (last, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for (signal, number) in [(SIGINT, 1), (SIGTERM, 2)] {
            flag::register_conditional_default(signal, Arc::clone(&is_over))?;
            flag::register_usize(signal, Arc::clone(&last), number)?;
        }
        Ok(Self { last, is_over })
    }

    /// The last signal that came since this was asked before.
    #[cfg(unix)]
    pub fn next(&self) -> Option<Interrupt> {
        match self.last.swap(0, Ordering::SeqCst) {
            0 => None,
            1 => Some(Interrupt::Interrupt),
            _ => Some(Interrupt::Terminate),
        }
    }

    /// From now on a signal ends the program again.
    #[cfg(unix)]
    pub fn stop_watching(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Watches nothing.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub fn watch() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// None comes.
    #[cfg(not(unix))]
    pub fn next(&self) -> Option<Interrupt> {
        None
    }

    /// There is nothing to stop.
    #[cfg(not(unix))]
    pub fn stop_watching(&self) {}
}
