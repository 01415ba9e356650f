// A kubelet requests certificates for itself, and for the pods it runs.
import { MIRROR_ANNOTATION } from '../../authz/node/pod-references.js';
import { parseCertificateRequestPem } from '../../lib/x509/certificate-request.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import type { PodCertificateRequest } from '../../schema/generated/certificates.v1alpha1.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';
import { missing, plainError } from './refuse.js';

const KUBELET_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

export function restrictSigningRequest(node: string, attributes: AdmissionAttributes): void {
  const { operation, context, object } = attributes;
  if (context.features.enabled('AllowInsecureKubeletCertificateSigningRequests') || operation !== 'CREATE') return;
  const { spec } = object as CertificateSigningRequest;
  if (!KUBELET_SIGNERS.includes(spec.signerName)) return;
  const name = `system:node:${node}`;
  if (commonName(attributes, spec.request ?? '') === name) return;
  throw forbid(attributes, `can only create a node CSR with CN=${name}`);
}

function commonName(attributes: AdmissionAttributes, request: string): string {
  try {
    return parseCertificateRequestPem(Buffer.from(request, 'base64').toString()).subject.commonName;
  } catch (error) {
    throw forbid(attributes, `unable to parse csr: ${errorText(error)}`);
  }
}

export async function restrictPodCertificate(node: string, attributes: AdmissionAttributes): Promise<void> {
  const { operation, subresource, context, namespace, object } = attributes;
  if (!context.features.enabled('PodCertificateRequest')) {
    throw forbid(attributes, 'PodCertificateRequest feature gate is disabled');
  }
  if (operation !== 'CREATE') throw forbid(attributes, `unexpected operation ${operation}`);
  if (subresource !== '') throw forbid(attributes, `unexpected subresource ${subresource}`);
  const { spec } = object as PodCertificateRequest;
  if (spec.nodeName !== node) {
    throw forbid(
      attributes,
      `PodCertificateRequest.Spec.NodeName=${goQuote(spec.nodeName)}, which is not the requesting node ${goQuote(node)}`,
    );
  }
  const get = (resource: string, inNamespace: string, name: string) =>
    context.lookup.get({ group: '', resource }, inNamespace, name);
  const podName = goQuote(`${namespace}/${spec.podName}`);
  const found = await get('nodes', '', spec.nodeName);
  if (found === undefined) throw notRetrieved('node', goQuote(spec.nodeName), missing('node', spec.nodeName));
  if (found.metadata.uid !== spec.nodeUID) {
    throw plainError(
      `PodCertificateRequest for pod ${podName} names node UID ${goQuote(spec.nodeUID)}, inconsistent with the running node (${goQuote(found.metadata.uid ?? '')})`,
    );
  }
  const pod = (await get('pods', namespace, spec.podName)) as Pod | undefined;
  if (pod === undefined) throw notRetrieved('pod', podName, missing('pod', spec.podName));
  checkPod(attributes, podName, pod);
  const account = await get('serviceaccounts', namespace, spec.serviceAccountName);
  const accountName = goQuote(`${namespace}/${spec.serviceAccountName}`);
  if (account === undefined) {
    throw notRetrieved('service account', accountName, missing('serviceaccount', spec.serviceAccountName));
  }
  if (spec.serviceAccountUID === account.metadata.uid) return;
  throw plainError(
    `PodCertificateRequest for pod ${podName} names service account UID ${goQuote(spec.serviceAccountUID)}, which differs from the running service account (${goQuote(account.metadata.uid ?? '')})`,
  );
}

function checkPod(attributes: AdmissionAttributes, podName: string, pod: Pod): void {
  const { spec } = attributes.object as PodCertificateRequest;
  if (spec.podUID !== pod.metadata.uid) {
    throw plainError(
      `PodCertificateRequest for pod ${podName} contains pod UID (${goQuote(spec.podUID)}) which differs from running pod ${goQuote(pod.metadata.uid ?? '')}`,
    );
  }
  if (pod.spec.nodeName !== spec.nodeName) {
    throw forbid(
      attributes,
      `pod ${podName} is not running on node ${goQuote(spec.nodeName)} named in the PodCertificateRequest`,
    );
  }
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) {
    throw forbid(attributes, `pod ${podName} is a mirror pod`);
  }
  const account = pod.spec.serviceAccountName ?? '';
  if (spec.serviceAccountName !== account) {
    throw forbid(
      attributes,
      `PodCertificateRequest for pod ${podName} contains serviceAccountName (${goQuote(spec.serviceAccountName)}) that differs from running pod (${goQuote(account)})`,
    );
  }
}

const notRetrieved = (what: string, name: string, why: string) =>
  plainError(`while retrieving ${what} ${name} named in the PodCertificateRequest: ${why}`);
