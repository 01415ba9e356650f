import type { CaBundleSource } from './ca-bundle.js';
import type { RequestHeaderOptions } from './request-header.js';

/** Whose signatures count: those on clients' certificates, and those on certificates of proxies that name the user. */
export interface AuthenticationTrust {
  /** --client-ca-file, or the authority that this server made because no file was named. */
  readonly clientCa?: CaBundleSource;
  /** No file was named: kube-apiserver would request no certificate, so one of another authority is as none. */
  readonly ignoresOtherCertificates?: boolean;
  /** --requestheader-*. */
  readonly requestHeader?: Omit<RequestHeaderOptions, 'verifier'> & { readonly clientCa: CaBundleSource };
}
