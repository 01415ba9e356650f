import { parseFieldSelector, type FieldSelector } from '../../machinery/field-selector.js';
import { SelectorError } from '../../machinery/label-requirement.js';
import { type LabelSelector, parseLabelSelector } from '../../machinery/label-selector.js';
import { badRequest } from '../../machinery/status.js';

export interface SentSelectors {
  readonly labels?: LabelSelector;
  readonly fields?: FieldSelector;
}

/** The selectors of a query. Throws StatusError for what is none. */
export function sentSelectors({
  labelSelector,
  fieldSelector,
}: {
  readonly labelSelector: string;
  readonly fieldSelector: string;
}): SentSelectors {
  return {
    ...(labelSelector !== '' && { labels: parsed(() => parseLabelSelector(labelSelector)) }),
    ...(fieldSelector !== '' && { fields: parsed(() => parseFieldSelector(fieldSelector)) }),
  };
}

function parsed<S>(parse: () => S): S {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw badRequest(error.message);
  }
}
