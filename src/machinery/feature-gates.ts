// Which features are on: the history of every gate, read at the emulated version, with the user's choices on top.
import { FEATURE_GATE_HISTORY } from './feature-gate-history.js';
import { compareMinorVersions, minorVersionText, type MinorVersion } from './kube-version.js';

export type FeatureGate = keyof typeof FEATURE_GATE_HISTORY;
export type FeatureStage = 'prealpha' | 'alpha' | 'beta' | 'ga' | 'deprecated';

export interface FeatureState {
  readonly stage: FeatureStage;
  readonly default: boolean;
  readonly locked: boolean;
}

export interface FeatureGates {
  enabled(gate: FeatureGate): boolean;
}

export interface FeatureGateChoice {
  readonly gates: FeatureGates;
  /** All that is wrong with the choices; then `gates` are the defaults. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

const isFeatureGate = (name: string): name is FeatureGate => Object.hasOwn(FEATURE_GATE_HISTORY, name);
export const featureGateNames = (): readonly FeatureGate[] => Object.keys(FEATURE_GATE_HISTORY) as FeatureGate[];

/** The gates at a version, with what is set by name: `AllAlpha` and `AllBeta` reach the gates not named. */
export function chooseFeatureGates(chosen: ReadonlyMap<string, boolean>, version: MinorVersion): FeatureGateChoice {
  const errors: string[] = [];
  const warnings: string[] = [];
  const enabled = new Map<FeatureGate, boolean>();
  for (const [name, on] of chosen) {
    if (!isFeatureGate(name)) {
      errors.push(`unrecognized feature gate: ${name}`);
      break;
    }
    const state = featureStateAt(name, version);
    if (state.locked && state.default !== on) {
      errors.push(`cannot set feature gate ${name} to ${on}, feature is locked to ${state.default}`);
    } else if (state.stage === 'prealpha') {
      const at = minorVersionText(version);
      errors.push(`cannot set feature gate ${name} to ${on}, feature is PreAlpha at emulated version ${at}`);
    } else {
      enabled.set(name, on);
      if (state.stage === 'deprecated' || state.stage === 'ga') {
        const stage = state.stage === 'ga' ? 'GA' : 'deprecated';
        warnings.push(`Setting ${stage} feature gate ${name}=${on}. It will be removed in a future release.`);
      }
    }
  }
  if (errors.length > 0) return { gates: featureGatesAt(version), errors, warnings: [] };
  return { gates: featureGatesAt(version, enabled), errors, warnings };
}

function featureGatesAt(version: MinorVersion, chosen: ReadonlyMap<FeatureGate, boolean> = new Map()): FeatureGates {
  const known = new Map<FeatureGate, boolean>(chosen);
  return {
    enabled(gate) {
      let on = known.get(gate);
      if (on === undefined) {
        const state = featureStateAt(gate, version);
        const all =
          state.stage === 'alpha' ? chosen.get('AllAlpha') : state.stage === 'beta' ? chosen.get('AllBeta') : undefined;
        on = all ?? state.default;
        known.set(gate, on);
      }
      return on;
    },
  };
}

const ABSENT: FeatureState = { stage: 'prealpha', default: false, locked: false };

export function featureStateAt(gate: FeatureGate, version: MinorVersion): FeatureState {
  let state = ABSENT;
  for (const entry of FEATURE_GATE_HISTORY[gate].split(', ')) {
    const [since = '', stage = '', initial, locked] = entry.split(' ');
    const [major = 0, minor = 0] = since.split('.').map(Number);
    if (compareMinorVersions({ major, minor }, version) > 0) break;
    state = { stage: stage as FeatureStage, default: initial === 'on', locked: locked === 'locked' };
  }
  return state;
}
