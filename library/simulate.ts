import {
  describeArgument,
  formatPlace,
  type EvalDefinition,
  type MessageName,
  type Persona,
  type Scenario,
  type SimulationReport,
} from '../src/contract/index.ts';
import { normalizeBaseUrl } from '../src/options/run.ts';
import { optionsSchema } from '../src/options/table.ts';
import { validateOptions } from '../src/platform/options.ts';
import { toSentence } from '../src/platform/sandbox-kit-error.ts';
import type { SimulateOptions } from '../src/service/index.ts';
import { simulateOptions } from '../src/service/simulator/options.ts';
import { resolveCallTarget } from './call-target.ts';
import { connectionOf } from './connection.ts';
import { rejectExposure } from './exposure.ts';
import { assignPersona, withShippedPersonas } from './input/personas.ts';
import { selectScenarios } from './input/scenario-files.ts';
import type { Service } from './packages.ts';
import { placesCalls, runSimulation } from './run-simulation.ts';

const schema = optionsSchema(simulateOptions);

/**
 * Lets simulated users talk to a sandbox, scores the sessions, and returns the report that
 * `sandbox-kit simulate --json` writes. Its `verdict` is `passed`, `failed`, or `undecided`; a broken
 * sandbox never rejects the promise. Runs with the same seed are identical except for timestamps.
 *
 *     const report = await simulate({ url, scenarios: ['refund-*'], samples: 3, seed: 'nightly' });
 *
 * @throws {TypeError} if an option, a scenario, a persona, or an eval is invalid.
 * @throws {SandboxKitError} `unreadable_file` or `invalid_file` about a scenario file. No request is
 *   sent then.
 */
export async function simulate(options: SimulateOptions): Promise<SimulationReport> {
  validateOptions('simulate', schema, options);
  rejectExposure('simulate', options);
  const documents = readDocuments(options);
  rejectInconsistent(documents, options.channel, await import('../src/service/index.ts'));
  const { url, channel, speech, transcription, voice } = options;
  const hasCalls = placesCalls(documents.scenarios, channel);
  return runSimulation({
    ...options,
    ...documents,
    connection: connectionOf(options),
    url: normalizeBaseUrl(url),
    voice: hasCalls ? { ...resolveCallTarget(voice), speech, transcription } : undefined,
  });
}

interface Documents {
  scenarios: Scenario[];
  personas: Persona[];
  evals: EvalDefinition[];
}

/** Returns the scenarios of files and options, with the personas and evals that they may refer to. */
function readDocuments(options: SimulateOptions): Documents {
  const { scenarios, set, channel, persona, personas = [], evals = [] } = options;
  if (scenarios && set !== undefined) {
    throw new TypeError("simulate: scenarios and set can't be combined.");
  }
  const patterns = scenarios?.filter((scenario) => typeof scenario === 'string');
  const inline = scenarios?.filter((scenario) => typeof scenario !== 'string') ?? [];
  const files =
    patterns?.length === 0
      ? { scenarios: [], personas: [], evals: [] }
      : selectScenarios({ patterns, set, byVoice: channel === 'voice' }, 'scenarios');
  for (const [index, scenario] of (scenarios ?? []).entries()) {
    if (typeof scenario !== 'string') rejectInvalid(`scenarios[${index}]`, 'Scenario', scenario);
  }
  for (const [index, each] of personas.entries()) {
    rejectInvalid(`personas[${index}]`, 'Persona', each);
  }
  for (const [index, definition] of evals.entries()) {
    rejectInvalid(`evals[${index}]`, 'EvalDefinition', definition);
  }
  const documents = {
    scenarios: [...files.scenarios, ...inline],
    personas: withShippedPersonas([...personas, ...files.personas]),
    evals: [...files.evals, ...evals],
  };
  if (persona === undefined) return documents;
  const assigned = assignPersona(documents.scenarios, documents.personas, persona);
  if ('problem' in assigned) throw new TypeError(`simulate: persona: ${assigned.problem}`);
  return { ...documents, ...assigned };
}

function rejectInvalid(path: string, name: MessageName, value: unknown): void {
  const problem = describeArgument(path, name, value);
  if (problem !== undefined) throw new TypeError(`simulate: ${problem}`);
}

/** @throws {TypeError} if scenarios, personas, and evals do not fit together. */
function rejectInconsistent(
  documents: Documents,
  channel: SimulateOptions['channel'],
  { findRunProblems }: Service,
): void {
  const [first] = findRunProblems(documents.scenarios, { ...documents, channel });
  if (!first) return;
  const { pointer, problem } = first;
  const place = pointer.startsWith('/evals')
    ? formatPlace('evals', pointer.replace('/evals', ''))
    : formatPlace('scenarios', pointer);
  const rest = problem.slice(pointer.length).trimStart();
  throw new TypeError(toSentence(`simulate: ${place} ${rest}`), { cause: first });
}
