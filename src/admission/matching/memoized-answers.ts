// The authorizer for expressions: memoizes the answers of one request, and waits for those that are pending.
import type { Authorizer } from '../../authz/authorizer.js';
import type { AccessAnswer } from '../../cel/kubernetes/authorizer.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import type { AuthorizationAttributes } from '../../machinery/access.js';

/** Thrown through an evaluation, which cannot wait, to whoever can. */
class PendingAnswer extends Error {
  constructor(readonly answered: Promise<void>) {
    super('the authorizer has not answered yet');
  }
}

export class MemoizedAnswers {
  private readonly known = new Map<string, AccessAnswer>();

  constructor(
    private readonly authorizer: Pick<Authorizer, 'authorize'>,
    private readonly waiting: Cancellation | undefined,
  ) {}

  readonly ask = (question: AuthorizationAttributes): AccessAnswer => {
    const key = JSON.stringify(question);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const memoize = ({ decision, reason, evaluationError }: Awaited<ReturnType<Authorizer['authorize']>>) => {
      const answer = {
        allowed: decision === 'allow',
        reason,
        ...(evaluationError !== undefined && { error: evaluationError }),
      };
      this.known.set(key, answer);
      return answer;
    };
    const result = this.authorizer.authorize(question, this.waiting);
    if (!(result instanceof Promise)) return memoize(result);
    throw new PendingAnswer(result.then((answer) => void memoize(answer)));
  };

  /** Does the work anew after each answer that had to be waited for; it must have no effects. */
  async settle<T>(work: () => MaybePromise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PendingAnswer)) throw error;
        await error.answered;
      }
    }
  }
}
