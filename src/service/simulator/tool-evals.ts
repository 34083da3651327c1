import type { EvalDefinition, Scenario } from '../../contract/index.ts';

const toolKinds: readonly EvalDefinition['kind'][] = ['tool_called', 'tool_args', 'tool_order'];

/** What can be scored of a session, and why all else can't. */
export interface Scorable {
  evals: readonly EvalDefinition[];
  notes: readonly string[];
}

/**
 * By voice an agent's tool calls are not seen unless the sandbox tells them, which is an extension:
 * what rests on them is left out then, neither passed nor failed.
 */
export function withoutTools(scenario: Scenario, evals: readonly EvalDefinition[]): Scorable {
  const skipped = evals.filter(restsOnTools);
  const waits = JSON.stringify(scenario.user).includes('"tool_called"');
  const unseen = 'this sandbox does not tell its tool calls by voice';
  return {
    evals: evals.filter((one) => !skipped.includes(one)),
    notes: [
      ...skipped.map(({ name }) => `${name}: skipped, since ${unseen}.`),
      ...(waits ? [`The user waits for tool calls in vain, since ${unseen}.`] : []),
    ],
  };
}

function restsOnTools({ kind, params }: EvalDefinition): boolean {
  if (toolKinds.includes(kind)) return true;
  return kind === 'json_path' && JSON.stringify(params ?? {}).includes('tool_calls');
}
