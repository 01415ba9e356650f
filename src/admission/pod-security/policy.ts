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
  const level = LEVELS.find((known) => known === text);
  if (level !== undefined) return level;
  errors.push(invalid(LABELS.key(label), text, `must be one of ${LEVELS.join(', ')}`));
  return mode === 'enforce' ? 'restricted' : 'privileged';
}

function versionFrom(labels: Labels, mode: Mode, fallback: number, errors: FieldErrors): number {
  const label = `${LABEL_PREFIX}${mode}-version`;
  const text = labels[label];
  if (text === undefined) return fallback;
  if (text === 'latest') return Infinity;
  const minor = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(text)?.[1];
  if (minor !== undefined && Number.isSafeInteger(Number(minor))) return Number(minor);
  errors.push(invalid(LABELS.key(label), text, 'must be "latest" or "v1.x"'));
  return Infinity;
}
