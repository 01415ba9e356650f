import { goQuote } from '../../../lib/go/quote.js';
import type { FieldPath } from '../../../machinery/field-error.js';
import type { ContainerPort, PodSpec } from '../../../schema/generated/core.v1.js';
import { containersWithPaths } from './containers.js';

/** Ports that conflict, or could be mistaken for one another. */
export function portWarnings(spec: Readonly<PodSpec>, path: FieldPath): string[] {
  const found: string[] = [];
  const byPort = new Map<string, { path: string; port: ContainerPort }[]>();
  const byName = new Map<string, string>();
  const named: string[] = [];
  for (const [container, containerPath] of containersWithPaths(spec, path)) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      const at = containerPath.child('ports').index(position).toString();
      if (port.hostIP && !port.hostPort) found.push(`${at}: hostIP set without hostPort: ${portText(port)}`);
      const key = `${port.containerPort}/${port.protocol ?? ''}`;
      const others = byPort.get(key) ?? [];
      for (const other of others) {
        const relation = portRelation(port, other.port);
        if (relation !== undefined) found.push(`${at}: ${relation} port definition with ${other.path}`);
      }
      byPort.set(key, [...others, { path: at, port }]);
      if (!port.name) continue;
      const first = byName.get(port.name);
      if (first === undefined) byName.set(port.name, at);
      else {
        const name = goQuote(port.name);
        named.push(
          `${at}: duplicate port name ${name} with ${first}, services and probes that select ports by name will use ${first}`,
        );
      }
    }
  }
  return [...found, ...named];
}

function portRelation(port: Readonly<ContainerPort>, other: Readonly<ContainerPort>): string | undefined {
  const [ip = '', otherIp = ''] = [port.hostIP, other.hostIP];
  const [host = 0, otherHost = 0] = [port.hostPort, other.hostPort];
  if (ip === otherIp && host === otherHost) return 'duplicate';
  if (host === 0 || otherHost === 0) return 'overlapping';
  if (host === otherHost && (ip === '') !== (otherIp === '')) return 'dangerously ambiguous';
  return undefined;
}

const portText = ({ name = '', hostPort = 0, containerPort, protocol = '', hostIP = '' }: ContainerPort): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
