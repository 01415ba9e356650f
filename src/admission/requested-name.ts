import { goQuote } from '../lib/go/quote.js';
import { pathSegmentName } from '../machinery/validation/names.js';

/** The error with which kube-apiserver's client refuses to request an object by this name; undefined for a good name. */
export function requestNameFault(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty';
  const faults = pathSegmentName(name, false);
  return faults.length === 0 ? undefined : `invalid resource name ${goQuote(name)}: [${faults.join(' ')}]`;
}
