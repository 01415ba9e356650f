// One metric and its status, between the shape of version 2 and the one version 1 keeps in annotations.
import { present } from '../../lib/values/present.js';
import type * as v1 from '../../schema/generated/autoscaling.v1.js';
import type * as v2 from '../../schema/generated/autoscaling.v2.js';

export const metricToV1 = ({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: v2.MetricSpec): v1.MetricSpec =>
  present({
    type,
    object: object && {
      ...described(object),
      targetValue: object.target.value ?? '0',
      ...present({ selector: object.metric.selector, averageValue: object.target.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? '0',
      ...present({ selector: pods.metric.selector }),
    },
    resource: resource && { name: resource.name, ...wantedUse(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...wantedUse(containerResource.target),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      ...present({
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
    },
  });

export const statusToV1 = ({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: v2.MetricStatus): v1.MetricStatus =>
  present({
    type,
    object: object && {
      ...described(object),
      currentValue: object.current.value ?? '0',
      ...present({ selector: object.metric.selector, averageValue: object.current.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? '0',
      ...present({ selector: pods.metric.selector }),
    },
    resource: resource && { name: resource.name, ...currentUse(resource.current) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...currentUse(containerResource.current),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      ...present({ metricSelector: external.metric.selector }),
      currentValue: external.current.value ?? '0',
      ...present({ currentAverageValue: external.current.averageValue }),
    },
  });

export const metricFromV1 = ({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: v1.MetricSpec): v2.MetricSpec =>
  present({
    type,
    object: object && {
      describedObject: object.target,
      target: present({
        type: object.averageValue === undefined ? 'Value' : 'AverageValue',
        value: object.targetValue,
        averageValue: object.averageValue,
      }),
      metric: present({ name: object.metricName, selector: object.selector }),
    },
    pods: pods && {
      metric: present({ name: pods.metricName, selector: pods.selector }),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue },
    },
    resource: resource && { name: resource.name, target: usageTarget(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      target: usageTarget(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: present({ name: external.metricName, selector: external.metricSelector }),
      target: present({
        type: external.targetValue === undefined ? 'AverageValue' : 'Value',
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  });

export const statusFromV1 = ({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: v1.MetricStatus): v2.MetricStatus =>
  present({
    type,
    object: object && {
      metric: present({ name: object.metricName, selector: object.selector }),
      current: present({ value: object.currentValue, averageValue: object.averageValue }),
      describedObject: object.target,
    },
    pods: pods && {
      metric: present({ name: pods.metricName, selector: pods.selector }),
      current: { averageValue: pods.currentAverageValue },
    },
    resource: resource && { name: resource.name, current: usage(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      current: usage(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: present({ name: external.metricName, selector: external.metricSelector }),
      current: present({ value: external.currentValue, averageValue: external.currentAverageValue }),
    },
  });

const described = ({ describedObject, metric }: v2.ObjectMetricSource | v2.ObjectMetricStatus) => ({
  target: present({
    kind: describedObject.kind,
    name: describedObject.name,
    apiVersion: describedObject.apiVersion,
  }),
  metricName: metric.name,
});

const wantedUse = ({ averageUtilization, averageValue }: v2.MetricTarget) =>
  present({ targetAverageUtilization: averageUtilization, targetAverageValue: averageValue });

const currentUse = ({ averageUtilization, averageValue }: v2.MetricValueStatus) => ({
  ...present({ currentAverageUtilization: averageUtilization }),
  currentAverageValue: averageValue ?? '0',
});

const usageTarget = (source: v1.ResourceMetricSource): v2.MetricTarget =>
  present({
    type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
    averageValue: source.targetAverageValue,
    averageUtilization: source.targetAverageUtilization,
  });

const usage = (status: v1.ResourceMetricStatus): v2.MetricValueStatus =>
  present({ averageValue: status.currentAverageValue, averageUtilization: status.currentAverageUtilization });
