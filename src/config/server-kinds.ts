// The kinds that configuration files of an API server may have, as kube-apiserver registers them with a version: a file of
// one kind where another is expected is refused by its name.
import type { ConfigKind } from './decode-config.js';

export const CONFIG_GROUP = 'apiserver.config.k8s.io';
const LEGACY_GROUP = 'apiserver.k8s.io';

type ConfigVersion = 'v1' | 'v1beta1' | 'v1alpha1';

const BY_VERSION: Readonly<Record<ConfigVersion, readonly (readonly [group: string, kinds: readonly string[]])[]>> = {
  v1: [
    [
      CONFIG_GROUP,
      [
        'AdmissionConfiguration',
        'AuthenticationConfiguration',
        'AuthorizationConfiguration',
        'EncryptionConfiguration',
        'TracingConfiguration',
      ],
    ],
  ],
  v1beta1: [
    [LEGACY_GROUP, ['EgressSelectorConfiguration']],
    [CONFIG_GROUP, ['AuthenticationConfiguration', 'AuthorizationConfiguration', 'TracingConfiguration']],
  ],
  v1alpha1: [
    [LEGACY_GROUP, ['AdmissionConfiguration', 'EgressSelectorConfiguration']],
    [CONFIG_GROUP, ['AuthenticationConfiguration', 'AuthorizationConfiguration', 'TracingConfiguration']],
  ],
};

/** What the first pages about encryption called its file. */
const ENCRYPTION_CONFIG: ConfigKind = {
  kind: 'EncryptionConfig',
  apiVersions: ['v1'],
  now: { kind: 'EncryptionConfiguration', apiVersion: `${CONFIG_GROUP}/v1` },
};

/** The kinds of these versions. `EncryptionConfig` comes with v1. */
export const serverKinds = (...versions: readonly ConfigVersion[]): readonly ConfigKind[] => [
  ...versions.flatMap((version) =>
    BY_VERSION[version].flatMap(([group, kinds]) =>
      kinds.map((kind) => ({ kind, apiVersions: [`${group}/${version}`] })),
    ),
  ),
  ...(versions.includes('v1') ? [ENCRYPTION_CONFIG] : []),
];

/** Those of every version. */
export const SERVER_KINDS = serverKinds('v1', 'v1beta1', 'v1alpha1');
