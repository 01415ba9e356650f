import type { Container, PodSpec } from '../../../../schema/generated/core.v1.js';

/** Whether a container that ended with this code is started again: by its rules, its own policy, or the pod's. */
export function shouldRestart(container: Readonly<Container>, spec: Readonly<PodSpec>, exitCode: number): boolean {
  for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
    if (action !== 'Restart' || exitCodes === undefined) continue;
    const listed = (exitCodes.values ?? []).includes(exitCode);
    if (exitCodes.operator === 'In' ? listed : exitCodes.operator === 'NotIn' && !listed) return true;
  }
  const policy = container.restartPolicy ?? spec.restartPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
