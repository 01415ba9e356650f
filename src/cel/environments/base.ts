// The environment that all expressions of the API start from: the language, its extensions and Kubernetes' libraries.
//
// There are two. What is written anew may use only what the oldest server beside this one knows, so that a roll-back
// finds nothing it does not understand. What is stored may use everything.
import type { MinorVersion } from '../../machinery/kube-version.js';
import { newEnvironment } from '../compile.js';
import type { Environment } from '../environment.js';
import { authorizerLibrary, authorizerSelectorsLibrary } from '../kubernetes/authorizer.js';
import { cidrLibrary } from '../kubernetes/cidr.js';
import { formatLibrary } from '../kubernetes/format.js';
import { ipLibrary } from '../kubernetes/ip.js';
import { listsLibrary as kubernetesListsLibrary } from '../kubernetes/lists.js';
import { quantityLibrary } from '../kubernetes/quantity.js';
import { regexLibrary } from '../kubernetes/regex.js';
import { semverLibrary } from '../kubernetes/semver.js';
import { urlLibrary } from '../kubernetes/url.js';
import { twoVariableLibrary } from '../libraries/comprehensions.js';
import { listsLibrary } from '../libraries/lists.js';
import { optionalLibrary } from '../libraries/optional.js';
import { setsLibrary } from '../libraries/sets.js';
import { standardLibrary } from '../libraries/standard.js';
import { stringsLibrary } from '../libraries/strings.js';
import type { Library } from '../library.js';
import { KUBERNETES_COSTS } from './size-estimates.js';

export interface BaseEnvironments {
  of(stored: boolean): Environment;
}

export interface BaseOptions {
  /** The oldest version that expressions written now must be understood by. */
  readonly compatibility: MinorVersion;
  readonly features: { enabled(name: string): boolean };
}

interface VersionedLibrary {
  readonly library: Library;
  /** The minor version it came with, where a server beside this one may be older. */
  readonly since?: number;
  /** Needed for expressions that are written now. */
  readonly feature?: string;
}

const LIBRARIES: readonly VersionedLibrary[] = [
  { library: standardLibrary },
  { library: urlLibrary },
  { library: regexLibrary },
  { library: kubernetesListsLibrary },
  { library: authorizerLibrary },
  { library: optionalLibrary },
  { library: quantityLibrary },
  { library: stringsLibrary },
  { library: setsLibrary },
  { library: ipLibrary },
  { library: cidrLibrary },
  { library: formatLibrary, since: 31 },
  { library: authorizerSelectorsLibrary, since: 31, feature: 'AuthorizeWithSelectors' },
  { library: twoVariableLibrary, since: 32 },
  { library: semverLibrary, since: 33 },
  { library: listsLibrary, since: 34 },
];

export function baseEnvironments({ compatibility, features }: BaseOptions): BaseEnvironments {
  const isKnown = ({ since = 0, feature }: VersionedLibrary): boolean =>
    feature === undefined ? since <= compatibility.minor : features.enabled(feature);
  return lazily((stored) => environmentOf(stored ? LIBRARIES : LIBRARIES.filter(isKnown)));
}

/** Environments in which the arguments of Kubernetes' own functions do not count as cost at run time. */
export const withoutLibraryCosts = (base: BaseEnvironments): BaseEnvironments =>
  lazily((stored) => base.of(stored).extend({ costs: {} }));

function lazily(make: (stored: boolean) => Environment): BaseEnvironments {
  let ofNew: Environment | undefined;
  let ofStored: Environment | undefined;
  return { of: (stored) => (stored ? (ofStored ??= make(true)) : (ofNew ??= make(false))) };
}

const environmentOf = (libraries: readonly VersionedLibrary[]): Environment =>
  newEnvironment({
    libraries: libraries.map(({ library }) => library),
    costs: KUBERNETES_COSTS,
    settings: { presenceTestHasCost: false, escapedIdentifiers: false },
  });
