// From the words of a command line to the options of a server, or to what to print instead of starting one.
import { goQuote } from '../lib/go/quote.js';
import { jsonLine } from '../lib/telemetry/log-json.js';
import { aggregateText } from '../machinery/field-error.js';
import { PROGRAM } from '../machinery/names.js';
import { versionInfo } from '../machinery/version-info.js';
import { closestFlag } from './closest-flag.js';
import { completeOptions, type Environment } from './complete-options.js';
import { readEmulation } from './emulation.js';
import { fieldName } from './flag-table.js';
import { type FlagsFile, readFlagsFile } from './flags-file.js';
import { helpText } from './help.js';
import type { Options } from './options.js';
import { CommandLineMistake, parseFlags, type ParsedFlags } from './parse-flags.js';
import { startupError, type StartupHooks } from './startup-checks.js';
import { TOPICS } from './topics.js';
import { validateOptions, type ValidationHooks } from './validate-options.js';
import { logErrors } from './validate/logs.js';

export type CommandLine =
  /** `notices` go to standard error as they are, before anything is logged. */
  | { readonly kind: 'run'; readonly options: Options; readonly notices: readonly string[] }
  | { readonly kind: 'print'; readonly text: string }
  /** `lines` go to standard error. Nothing has been started or written. */
  | { readonly kind: 'refused'; readonly lines: readonly string[]; readonly exitCode: number };

export interface CommandLineHooks extends StartupHooks, ValidationHooks {
  /** The terminal's width, for help; 0 or absent where there is none. */
  readonly columns?: number;
  /** Binnacle's own version, for a second line of `--version`; absent where the program goes by kube-apiserver's name, and
   *  has no other commands. */
  readonly ownVersion?: string | undefined;
  readonly now?: () => Date;
}

export function parseCommandLine(argv: readonly string[], env: Environment, hooks: CommandLineHooks = {}): CommandLine {
  let parsed: ParsedFlags<typeof TOPICS>;
  let flagsFile: FlagsFile | undefined;
  let isFromFile = true;
  try {
    flagsFile = readFlagsFile(argv);
    // What is wrong with the file alone is said to be in it.
    if (flagsFile !== undefined) parseFlags(TOPICS, flagsFile.args);
    isFromFile = false;
    parsed = parseFlags(TOPICS, [...(flagsFile?.args ?? []), ...argv]);
  } catch (error) {
    if (!(error instanceof CommandLineMistake)) throw error;
    const hint = error.unknownFlag === undefined ? undefined : closestFlag(error.unknownFlag, TOPICS);
    const where = isFromFile && flagsFile !== undefined ? `${flagsFile.file}: ` : '';
    const lines = [`Error: ${where}${error.message}`, ...(hint === undefined ? [] : [`Did you mean --${hint}?`])];
    return { kind: 'refused', lines, exitCode: 1 };
  }
  const { values, setFlags, positional, notices } = parsed;
  if (values.global.help) {
    const others = hooks.ownVersion === undefined ? '' : '\nOther commands: `binnacle help`.\n';
    return { kind: 'print', text: `${helpText(TOPICS, hooks.columns ?? 0)}${others}` };
  }
  if (positional.some((argument) => argument !== '')) {
    const got = `[${positional.map(goQuote).join(' ')}]`;
    return {
      kind: 'refused',
      lines: [...notices, `Error: "${PROGRAM}" does not take any arguments, got ${got}`],
      exitCode: 1,
    };
  }

  const refuse = (error: string, format = 'text', about?: string, exitCode = 1): CommandLine => {
    const line = commandFailedLine(error, hooks.now?.() ?? new Date(), format, fileOf(values, about));
    return { kind: 'refused', lines: [...notices, line], exitCode };
  };
  const emulation = readEmulation(values.generic.emulatedVersion, values.generic.featureGates);
  if (!emulation.ok) return refuse(emulation.error);
  if (values.global.version === 'true') {
    const own = hooks.ownVersion === undefined ? '' : `Binnacle ${hooks.ownVersion}\n`;
    return { kind: 'print', text: `Kubernetes ${versionInfo().gitVersion}\n${own}` };
  }
  if (values.global.version === 'raw') return { kind: 'print', text: `${rawVersion()}\n` };

  const aboutLogs = logErrors(values, emulation.emulation.featureGates);
  if (aboutLogs.length > 0) return refuse(aggregateText(aboutLogs));
  const { loggingFormat, logFlushFrequencyMs } = values.logs;
  // kube-apiserver falls over it, with the exit code of a program that crashed.
  if (logFlushFrequencyMs <= 0)
    return refuse('--log-flush-frequency must be greater than zero', loggingFormat, undefined, 2);
  const completed = completeOptions({ values, setFlags, emulation: emulation.emulation, env });
  if (!completed.ok) return refuse(completed.error, loggingFormat);
  let wrongFile: string | undefined;
  const errors = validateOptions(completed.options, {
    authorizationConfig(options) {
      const error = hooks.authorizationConfig?.(options);
      if (error !== undefined) wrongFile = '--authorization-config';
      return error;
    },
  });
  if (errors.length > 0) return refuse(aggregateText(errors), loggingFormat, wrongFile);
  const atStart = startupError(completed.options, hooks);
  if (atStart !== undefined) return refuse(atStart.error, loggingFormat, atStart.about, atStart.exitCode);
  return { kind: 'run', options: completed.options, notices };
}

/** The line of an error that ends the program, as logs have it; a text of several lines is indented below it. */
export function commandFailedLine(
  error: string,
  now: Date,
  format: string,
  about: Readonly<Record<string, string>> = {},
): string {
  if (format === 'json') {
    const line = { severity: 'E', now, file: 'main', message: 'command failed', plain: false } as const;
    return jsonLine({ ...line, fields: { err: error, ...about } });
  }
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
  const micros = String(now.getMilliseconds()).padStart(3, '0').padEnd(6, '0');
  const header = `E${day} ${time}.${micros} ${String(process.pid).padStart(7)} run.go:72]`;
  const value = error.includes('\n') ? `<\n\t${error.replaceAll('\n', '\n\t')}\n >` : goQuote(error);
  const more = Object.entries(about).map(([key, text]) => ` ${key}=${goQuote(text)}`);
  return `${header} "command failed" err=${value}${more.join('')}`;
}

/** The flag and the file it names: kube-apiserver's words often leave open which one is wrong. */
function fileOf(values: Readonly<Record<string, unknown>>, flag: string | undefined): Record<string, string> {
  if (flag === undefined) return {};
  const field = fieldName(flag.slice('--'.length), 'string');
  const topics = Object.values(values) as Readonly<Record<string, unknown>>[];
  const value = topics.find((topic) => field in topic)?.[field];
  const file = Array.isArray(value) ? shownList(value) : value;
  return { flag, ...(NAMES_FILES.test(flag) && typeof file === 'string' && file !== '' && { file }) };
}

const NAMES_FILES = /-(?:file|config|cert-key)$/;

const shownList = (values: readonly unknown[]): string =>
  values.map((value) => (isKeyPair(value) ? `${value.certFile},${value.keyFile}` : String(value))).join(',');

const isKeyPair = (value: unknown): value is { certFile: string; keyFile: string } =>
  typeof value === 'object' && value !== null && 'certFile' in value;

/** All the version's fields, formatted as the platform's tools do. */
function rawVersion(): string {
  const info = versionInfo();
  const fields = {
    Major: info.major,
    Minor: info.minor,
    EmulationMajor: '',
    EmulationMinor: '',
    MinCompatibilityMajor: '',
    MinCompatibilityMinor: '',
    GitVersion: info.gitVersion,
    GitCommit: info.gitCommit,
    GitTreeState: info.gitTreeState,
    BuildDate: info.buildDate,
    GoVersion: info.goVersion,
    Compiler: info.compiler,
    Platform: info.platform,
  };
  const body = Object.entries(fields).map(([name, value]) => `${name}:${goQuote(value)}`);
  return `version.Info{${body.join(', ')}}`;
}
