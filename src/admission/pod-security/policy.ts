// What the labels of a namespace say about its pods.
import { type FieldErrors, FieldPath, invalid } from '../../machinery/field-error.js';

export type Level = 'privileged' | 'baseline' | 'restricted';

export interface LevelVersion {
  readonly level: Level;
  /** The minor version whose rules hold; Infinity for the latest. */
  readonly minor: number;
}

export type Mode = 'enforce' | 'audit' | 'warn';
export type Policy = Readonly<Record<Mode, LevelVersion>>;

export const LABEL_PREFIX = 'pod-security.kubernetes.io/';

/** `baseline:v1.24` or `restricted:latest`. */
export const policyText = ({ level, minor }: LevelVersion): string =>
  `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`;

export const samePolicy = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.minor === b.minor;

const LEVELS: readonly Level[] = ['privileged', 'baseline', 'restricted'];

/** Below zero when `a` is the laxer one. */
export const compareLevels = (a: Level, b: Level): number => LEVELS.indexOf(a) - LEVELS.indexOf(b);

/** A label that makes no sense is an error, and still decides: enforcing then is strictest, the others do nothing. */
export function policyOf(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: Policy,
): { readonly policy: Policy; readonly errors: FieldErrors } {
  const errors: FieldErrors = [];
  if (labels === undefined) return { policy: defaults, errors };
  const read = (mode: Mode): LevelVersion => ({
    level: levelFrom(labels, mode, defaults[mode].level, errors),
    minor: versionFrom(labels, mode, defaults[mode].minor, errors),
  });
  const enforce = read('enforce');
  const audit = read('audit');
  let warn = read('warn');
  const stated = labels[LABEL_PREFIX + 'enforce'];
  const warns = labels[LABEL_PREFIX + 'warn'] !== undefined;
  // Whoever only enforces wants warnings for workloads, too.
  if (!warns && stated === enforce.level && compareLevels(enforce.level, warn.level) > 0) {
    const ownVersion = labels[LABEL_PREFIX + 'warn-version'] !== undefined;
    warn = { level: enforce.level, minor: ownVersion ? warn.minor : enforce.minor };
  }
  return { policy: { enforce, audit, warn }, errors };
}

type Labels = Readonly<Record<string, string>>;

const LABELS = FieldPath.of('metadata', 'labels');

function levelFrom(labels: Labels, mode: Mode, fallback: Level, errors: FieldErrors): Level {
  const label = LABEL_PREFIX + mode;
  const text = labels[label];
  if (text === undefined) return fallback;
  const level = parseLevel(text);
  if (typeof level === 'string') return level;
  errors.push(invalid(LABELS.key(label), text, level.error));
  return mode === 'enforce' ? 'restricted' : 'privileged';
}

function versionFrom(labels: Labels, mode: Mode, fallback: number, errors: FieldErrors): number {
  const label = `${LABEL_PREFIX}${mode}-version`;
  const text = labels[label];
  if (text === undefined) return fallback;
  const minor = parseVersion(text);
  if (typeof minor === 'number') return minor;
  errors.push(invalid(LABELS.key(label), text, minor.error));
  return Infinity;
}

interface Unknown {
  readonly error: string;
}

export const parseLevel = (text: string): Level | Unknown =>
  LEVELS.find((known) => known === text) ?? { error: `must be one of ${LEVELS.join(', ')}` };

/** The minor version; Infinity for the latest. */
export function parseVersion(text: string): number | Unknown {
  if (text === 'latest') return Infinity;
  const minor = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(text)?.[1];
  if (minor !== undefined && Number.isSafeInteger(Number(minor))) return Number(minor);
  return { error: 'must be "latest" or "v1.x"' };
}
