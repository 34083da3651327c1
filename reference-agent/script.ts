import {
  describeArgument,
  formatPlace,
  formatValue,
  type AgentScript,
} from '../src/contract/index.ts';

/** A problem of a script that its schema can't express. */
export interface ScriptProblem {
  /** JSON pointer to the place. */
  pointer: string;
  /** What is wrong there, as a clause without a subject, such as `must be …`. */
  message: string;
}

/** Finds the first `regex` of a script that is not a regular expression. */
export function findScriptProblem({ rules }: AgentScript): ScriptProblem | undefined {
  for (const [index, { when }] of rules.entries()) {
    if (when?.regex === undefined || isRegex(when.regex)) continue;
    return {
      pointer: `/rules/${index}/when/regex`,
      message: `must be a regular expression, got ${formatValue(when.regex)}`,
    };
  }
  return undefined;
}

/** Rejects an invalid script that code passes. @throws {TypeError} about its first problem. */
export function rejectScript(caller: string, script: AgentScript): void {
  const mismatch = describeArgument('script', 'AgentScript', script);
  if (mismatch !== undefined) throw new TypeError(`${caller}: ${mismatch}`);
  const problem = findScriptProblem(script);
  if (!problem) return;
  const place = formatPlace('script', problem.pointer);
  throw new TypeError(`${caller}: ${place} ${problem.message}.`);
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
