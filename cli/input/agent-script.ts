/** The script of replies that `--script` names. */
import { readJsonFile } from '../../library/input/documents.ts';
import type * as agentModule from '../../reference-agent/index.ts';
import type { AgentScript } from '../../src/contract/index.ts';
import { UsageError } from '../errors.ts';

/**
 * Reads a script of replies; null without a path.
 *
 * @throws {SandboxKitError | UsageError} with the path, the line, and the column of each problem.
 */
export function readAgentScript(
  path: string | undefined,
  { findScriptProblem }: typeof agentModule,
): AgentScript | null {
  if (path === undefined) return null;
  const { value, check, locate } = readJsonFile(path, '--script', 'a script of replies');
  check('AgentScript');
  const script = value as AgentScript;
  const problem = findScriptProblem(script);
  if (!problem) return script;
  const { pointer, message } = problem;
  throw new UsageError(`${locate(pointer)}: ${pointer} ${message}`);
}
