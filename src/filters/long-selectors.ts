import { fieldSelectors } from '../machinery/field-selector.js';
import { LONG_SELECTOR } from '../machinery/held-selectors.js';
import { labelSelectors } from '../machinery/label-selector.js';
import type { HttpResponse } from '../lib/http/http.js';
import type { Exchange, Filter, Handler } from './exchange.js';

/** Parses long selectors cooperatively; later uses find them parsed. */
export const longSelectors: Filter = (exchange, next) =>
  exchange.request.search.length < LONG_SELECTOR ? next(exchange) : readFirst(exchange, next);

async function readFirst(exchange: Exchange, next: Handler): Promise<HttpResponse> {
  const { query } = exchange.request;
  const [labels, fields] = [query.get('labelSelector') ?? '', query.get('fieldSelector') ?? ''];
  if (labels.length >= LONG_SELECTOR) exchange.onFinish(await labelSelectors.hold(labels));
  if (fields.length >= LONG_SELECTOR) exchange.onFinish(await fieldSelectors.hold(fields));
  return next(exchange);
}
