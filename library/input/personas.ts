import type { Persona, Scenario } from '../../src/contract/index.ts';
import { createFileError } from '../../src/platform/sandbox-kit-error.ts';
import { shippedPath } from '../../src/platform/shipped-path.ts';
import { didYouMean } from '../../src/platform/suggest.ts';
import { readYamlFile } from './documents.ts';
import { listFiles } from './find-files.ts';

/** Reads the personas that the package contains. @throws {SandboxKitError} if a file is damaged. */
export function readShippedPersonas(): Persona[] {
  const problems: string[] = [];
  const context = { option: '--persona', problems, name: 'Persona' } as const;
  const personas = listFiles(shippedPath('personas'), '.persona.yaml').flatMap((path) =>
    readYamlFile(path, context),
  );
  if (problems.length > 0) throw createFileError(problems);
  return personas.map(({ value }) => value);
}

/** Returns personas, and those that the package contains unless they have the id of another. */
export function withShippedPersonas(personas: readonly Persona[]): Persona[] {
  const ids = new Set(personas.map(({ id }) => id));
  return [...personas, ...readShippedPersonas().filter(({ id }) => !ids.has(id))];
}

/**
 * Returns scenarios whose users all have the persona with an id, or why there is no such persona, as a
 * sentence.
 */
export function assignPersona(
  scenarios: readonly Scenario[],
  personas: readonly Persona[],
  id: string,
): { scenarios: Scenario[] } | { problem: string } {
  const persona = personas.find((candidate) => candidate.id === id);
  if (persona) return { scenarios: scenarios.map((scenario) => ({ ...scenario, persona })) };
  const ids = personas.map((candidate) => candidate.id);
  const hint = didYouMean(id, ids, `Known personas: ${ids.sort().join(', ')}.`);
  return { problem: `Unknown persona ${JSON.stringify(id)}. ${hint}` };
}
