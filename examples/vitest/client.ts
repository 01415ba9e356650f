// A cluster as the client library of Kubernetes sees it.
import { KubeConfig } from '@kubernetes/client-node';
import type { Cluster } from 'binnacle/testing';

export function kubeConfigOf(cluster: Cluster): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig);
  return config;
}
