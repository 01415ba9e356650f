// What expressions see of a request: those of policies, and the match conditions of webhooks.
import type { PolicyInput } from '../../cel/compiled-policy.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { ResourceMatch } from './resource-match.js';
import type { MemoizedAnswers } from './memoized-answers.js';
import { requestValue } from './request-value.js';
import type { SeenRequest } from './seen-request.js';

/** In the version that was matched. */
export type SeenObjects = Pick<PolicyInput, 'object' | 'oldObject' | 'params'>;

export interface PolicyInputOptions {
  readonly request: SeenRequest;
  readonly matched: ResourceMatch;
  readonly objects: SeenObjects;
  readonly namespace: object | null;
  readonly ask: MemoizedAnswers['ask'];
}

export const policyInput = ({ request, matched, objects, namespace, ask }: PolicyInputOptions): PolicyInput => ({
  ...objects,
  request: requestValue(request, matched),
  namespaceObject: namespace,
  authorizer: { user: request.attributes.context.user, ask, resource: requestedResource(request.attributes) },
});

const requestedResource = ({ resource, subresource, namespace, name }: AdmissionAttributes) => ({
  apiGroup: resource.group,
  resource: resource.resource,
  subresource,
  namespace,
  name,
});

/** What match conditions see instead: not under which name the resource was matched, and no namespace. */
export const matchInput = (input: PolicyInput, request: SeenRequest, matched: ResourceMatch): PolicyInput => ({
  ...input,
  request: requestValue(request, { ...matched, resource: request.attributes.resource }),
  namespaceObject: null,
});
