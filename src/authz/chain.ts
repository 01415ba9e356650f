// The authorizers of a server in their order, after the one for system:masters.
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { AuthorizationResult, Authorizer } from './authorizer.js';
import { privilegedGroup } from './fixed.js';
import { unionOfAuthorizers } from './union.js';

export interface ChainMember {
  readonly type: string;
  readonly name: string;
  readonly authorizer: Authorizer;
}

/** Observes every decision that ends the chain. */
export type DecisionObserver = (member: ChainMember, decision: 'allowed' | 'denied') => void;

export function authorizerChain(members: readonly ChainMember[], observe: DecisionObserver): Authorizer {
  return unionOfAuthorizers([privilegedGroup, ...members.map((member) => observed(member, observe))]);
}

function observed(member: ChainMember, observe: DecisionObserver): Authorizer {
  const { authorizer } = member;
  const report = (result: AuthorizationResult): AuthorizationResult => {
    if (result.decision !== 'no-opinion') observe(member, result.decision === 'allow' ? 'allowed' : 'denied');
    return result;
  };
  return {
    authorize: (attributes, waiting): MaybePromise<AuthorizationResult> =>
      whenReady(authorizer.authorize(attributes, waiting), report),
    rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
  };
}
