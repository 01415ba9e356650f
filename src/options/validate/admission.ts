import { goQuote } from '../../lib/go/quote.js';
import { isAdmissionPlugin } from '../admission-plugins.js';
import type { Options } from '../options.js';

export function admissionErrors({ admission, setFlags }: Options): string[] {
  const errors: string[] = [];
  if (
    setFlags.has('admission-control') &&
    (setFlags.has('enable-admission-plugins') || setFlags.has('disable-admission-plugins'))
  ) {
    errors.push(
      'admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive',
    );
  }
  for (const [flag, names] of [
    ['admission-control', admission.admissionControl],
    ['enable-admission-plugins', admission.enableAdmissionPlugins],
    ['disable-admission-plugins', admission.disableAdmissionPlugins],
  ] as const) {
    for (const name of names) {
      if (!isAdmissionPlugin(name)) errors.push(`${flag} plugin ${goQuote(name)} is unknown`);
    }
  }
  const both = [...new Set(admission.enableAdmissionPlugins)].filter((name) =>
    admission.disableAdmissionPlugins.includes(name),
  );
  if (both.length > 0) {
    errors.push(`[${both.toSorted().join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`);
  }
  return errors;
}
