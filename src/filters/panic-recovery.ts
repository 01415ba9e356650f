import type { HttpResponse } from '../lib/http/http.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { Filter } from './exchange.js';
import { plainError } from './plain-response.js';
import { uriOf } from './request-info.js';
import { UnsendableStatus } from './unsendable-status.js';

/** An unexpected error is our bug: logged whole, sent to the client only as such. The server goes on. */
export function panicRecovery(log: Logger): Filter {
  return (exchange, next) => {
    const recover = (error: unknown): HttpResponse => {
      const { method } = exchange.request;
      const { message, stack } = error instanceof Error ? error : { message: String(error) };
      log.error(undefined, "apiserver panic'd", {
        err: message,
        method,
        URI: uriOf(exchange.request),
        auditID: exchange.auditId,
        stack,
      });
      const answer = plainError(500, 'This request caused apiserver to panic. Look in the logs for details.');
      if (!(error instanceof UnsendableStatus)) return answer;
      // The listener cuts what is not answered, and nobody counts it as served.
      exchange.servedBy = undefined;
      exchange.finish(answer);
      throw error;
    };
    try {
      const answer = next(exchange);
      return answer instanceof Promise ? answer.catch(recover) : answer;
    } catch (error) {
      return recover(error);
    }
  };
}
