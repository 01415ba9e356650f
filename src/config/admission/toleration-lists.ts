import type { TolerationLists } from '../../admission/plugins/pod-toleration-restriction.js';
import { validateTolerations } from '../../apis/core/pod/validation/tolerations.js';
import { fieldErrorText, FieldPath } from '../../machinery/field-error.js';
import type { Configuration } from '../../schema/generated/podtolerationrestriction.v1alpha1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';

/** Throws a ConfigError. */
export function tolerationLists(text: string): TolerationLists {
  const { object } = decodeConfig(text, {
    kinds: [{ kind: 'Configuration', apiVersions: ['podtolerationrestriction.admission.k8s.io/v1alpha1'] }],
    scheme: 'k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction/config.go:32',
    lenient: true,
  });
  const { default: given = [], whitelist = [] } = object as Partial<Configuration>;
  const path = FieldPath.of('podtolerationrestriction');
  const errors = [
    ...validateTolerations(given, path.child('default')),
    ...validateTolerations(whitelist, path.child('whitelist')),
  ];
  if (errors.length > 0) throw new ConfigError(`invalid config: [${errors.map(fieldErrorText).join(' ')}]`);
  return { default: given, whitelist };
}
