// The operations of what is served beside the API, for its documents.
import { type Route, type RouteResponse, UNAUTHORIZED } from './route.js';

export interface NonResourceOptions {
  /** Whether keys for service account tokens are published. */
  readonly issuer: boolean;
  readonly logs: boolean;
}

export function nonResourceRoutes({ issuer, logs }: NonResourceOptions): Map<string, readonly Route[]> {
  const documents = new Map<string, readonly Route[]>([['version', [VERSION]]]);
  if (issuer) {
    documents.set('.well-known/openid-configuration', [OPENID_CONFIGURATION]);
    documents.set('openid/v1/jwks', [OPENID_KEYS]);
  }
  if (logs) documents.set('logs', LOGS);
  return documents;
}

const answer = (definition: string): RouteResponse[] => [{ code: 200, description: 'OK', definition }, UNAUTHORIZED];

const VERSION: Route = {
  path: '/version/',
  method: 'get',
  operationId: 'getCodeVersion',
  tags: ['version'],
  description: 'Tells which version of the API this server speaks and how it was built.',
  parameters: [],
  consumes: ['application/json'],
  produces: ['application/json'],
  responses: answer('io.k8s.apimachinery.pkg.version.Info'),
};

const OPENID_CONFIGURATION: Route = {
  path: '/.well-known/openid-configuration/',
  method: 'get',
  operationId: 'getServiceAccountIssuerOpenIDConfiguration',
  tags: ['WellKnown'],
  description: 'Tells relying parties who issues service account tokens and where the keys to check them are.',
  parameters: [],
  consumes: [],
  produces: ['application/json'],
  responses: answer(''),
};

const OPENID_KEYS: Route = {
  path: '/openid/v1/jwks/',
  method: 'get',
  operationId: 'getServiceAccountIssuerOpenIDKeyset',
  tags: ['openid'],
  description: 'Publishes the keys that service account tokens are checked with, as a JSON Web Key Set.',
  parameters: [],
  consumes: [],
  produces: ['application/jwk-set+json'],
  responses: answer(''),
};

const LOGS: readonly Route[] = [
  {
    path: '/logs/',
    method: 'get',
    operationId: 'logFileListHandler',
    tags: ['logs'],
    parameters: [],
    consumes: [],
    produces: [],
    responses: [UNAUTHORIZED],
  },
  {
    path: '/logs/{logpath}',
    method: 'get',
    operationId: 'logFileHandler',
    tags: ['logs'],
    parameters: [{ name: 'logpath', in: 'path', type: 'string', description: 'The path of the log file.' }],
    consumes: [],
    produces: [],
    responses: [UNAUTHORIZED],
  },
];
