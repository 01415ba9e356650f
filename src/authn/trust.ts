import type { CaBundleSource } from './ca-bundle.js';
import type { RequestHeaderOptions } from './request-header.js';

/** Whose signatures count: those on clients' certificates, and those on certificates of proxies that name the user. */
export interface AuthenticationTrust {
  /** --client-ca-file. */
  readonly clientCa?: CaBundleSource;
  /** --requestheader-*. */
  readonly requestHeader?: Omit<RequestHeaderOptions, 'verifier'> & { readonly clientCa: CaBundleSource };
}
