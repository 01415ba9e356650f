import type { KindDefinition } from '../../registry/kind.js';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscaler.js';

export const autoscalingKinds: readonly KindDefinition[] = [horizontalPodAutoscalers];
