import { goQuote } from '../lib/go/quote.js';
import { pathSegmentName } from '../machinery/validation/names.js';

/** Why kube-apiserver's client does not even ask for an object by this name, where it does not. */
export function notAskedFor(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty';
  const faults = pathSegmentName(name, false);
  return faults.length === 0 ? undefined : `invalid resource name ${goQuote(name)}: [${faults.join(' ')}]`;
}
