const REALTIME = [
  'SIGRTMIN',
  ...Array.from({ length: 15 }, (_, offset) => `SIGRTMIN+${offset + 1}`),
  ...Array.from({ length: 14 }, (_, offset) => `SIGRTMAX-${14 - offset}`),
  'SIGRTMAX',
];

/** Sorted by their text, as errors list them. */
export const LINUX_SIGNALS: readonly string[] = [
  ...'SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT'.split(' '),
  ...'SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM'.split(' '),
  ...'SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ'.split(' '),
  ...REALTIME,
].sort();

export const WINDOWS_SIGNALS: readonly string[] = ['SIGKILL', 'SIGTERM'];
