import type {
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../schema/generated/autoscaling.v2.js';

const MAX_SHOWN = 2;
const UNKNOWN = '<unknown>';

/** `cpu: 10%/80%, 3/5 + 1 more...`: for each metric what it is and what it should be. */
export function targetsCell(specs: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (specs.length === 0) return '<none>';
  const shown = specs.slice(0, MAX_SHOWN).map((spec, position) => targetText(spec, statuses[position]));
  const more = specs.length - MAX_SHOWN;
  return shown.join(', ') + (more > 0 ? ` + ${more} more...` : '');
}

function targetText(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case 'External':
      return totalText(spec.external?.target, status?.external?.current);
    case 'Object':
      return totalText(spec.object?.target, status?.object?.current);
    case 'Pods': {
      const current = status?.pods?.current;
      return `${current === undefined ? UNKNOWN : quantity(current.averageValue)}/${quantity(spec.pods?.target.averageValue)}`;
    }
    case 'Resource':
      return usageText(spec.resource?.name, spec.resource?.target, status?.resource?.current);
    case 'ContainerResource':
      return usageText(
        spec.containerResource?.name,
        spec.containerResource?.target,
        status?.containerResource?.current,
      );
    default:
      return '<unknown type>';
  }
}

function totalText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
  return `${current === undefined ? UNKNOWN : quantity(current.value)}/${quantity(target?.value)}`;
}

function usageText(name = '', target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) {
    return `${name}: ${current === undefined ? UNKNOWN : quantity(current.averageValue)}/${target.averageValue}`;
  }
  const percent = (value: number | undefined, otherwise: string) => (value === undefined ? otherwise : `${value}%`);
  return `${name}: ${percent(current?.averageUtilization, UNKNOWN)}/${percent(target?.averageUtilization, '<auto>')}`;
}

const quantity = (value: string | undefined): string => value ?? '<nil>';
