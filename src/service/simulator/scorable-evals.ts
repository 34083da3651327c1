import type { EvalDefinition, Scenario } from '../../contract/index.ts';

const TOOL_KINDS: readonly EvalDefinition['kind'][] = ['tool_called', 'tool_args', 'tool_order'];

/** The evals that can be scored, and why the others can't. */
export interface ScorableEvals {
  evals: readonly EvalDefinition[];
  notes: readonly string[];
}

/**
 * Leaves out evals that need tool calls. By voice, tool calls are visible only if the sandbox reports them,
 * which is an extension; without them such evals neither pass nor fail.
 */
export function skipToolEvals(scenario: Scenario, evals: readonly EvalDefinition[]): ScorableEvals {
  const skipped = evals.filter(needsToolCalls);
  const userWaitsForTools = JSON.stringify(scenario.user).includes('"tool_called"');
  const reason = 'this sandbox does not report its tool calls by voice';
  return {
    evals: evals.filter((definition) => !skipped.includes(definition)),
    notes: [
      ...skipped.map(({ name }) => `${name}: skipped, because ${reason}.`),
      ...(userWaitsForTools
        ? [`The user waits for tool calls that never appear, because ${reason}.`]
        : []),
    ],
  };
}

function needsToolCalls({ kind, params }: EvalDefinition): boolean {
  if (TOOL_KINDS.includes(kind)) return true;
  return kind === 'json_path' && JSON.stringify(params ?? {}).includes('tool_calls');
}
