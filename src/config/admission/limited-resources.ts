import type { LimitedResource } from '../../admission/quota/limited.js';
import { aggregateText, fieldErrorText, FieldPath, required } from '../../machinery/field-error.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';

/** What may only be used where a quota covers it. Throws a ConfigError. */
export function limitedResources(text: string): readonly LimitedResource[] {
  const { object } = decodeConfig(text, {
    kinds: [
      { kind: 'ResourceQuotaConfiguration', apiVersions: ['apiserver.config.k8s.io/v1'] },
      {
        kind: 'Configuration',
        apiVersions: ['resourcequota.admission.k8s.io/v1beta1', 'resourcequota.admission.k8s.io/v1alpha1'],
      },
    ],
    scheme: 'k8s.io/apiserver/pkg/admission/plugin/resourcequota/config.go:31',
  });
  const limited = (object['limitedResources'] ?? []) as readonly LimitedResource[];
  const path = FieldPath.of('limitedResources');
  const errors = limited.flatMap(({ resource }, index) =>
    resource === '' ? [required(path.index(index).child('resource'), '')] : [],
  );
  if (errors.length > 0) throw new ConfigError(aggregateText(errors.map(fieldErrorText)));
  return limited;
}
