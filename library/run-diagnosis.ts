import type { DiagnoseOptions, Diagnosis } from '../conformance/index.ts';
import { randomSeed } from '../src/platform/random.ts';
import { resolveCallTarget } from './call-target.ts';
import { connectionOf } from './connection.ts';
import { kitVersion } from './kit-version.ts';

/** Runs only the preflight of a check, with valid options. */
export async function runDiagnosis({
  url,
  voice,
  seed = randomSeed(),
  ...options
}: DiagnoseOptions): Promise<Diagnosis> {
  const { diagnose } = await import('../conformance/index.ts');
  return diagnose({
    ...options,
    connection: connectionOf(options),
    target: url,
    kitVersion: kitVersion(),
    seed,
    needsVoice: voice?.url !== undefined || (options.areas?.includes('voice') ?? false),
    voice: resolveCallTarget(voice),
  });
}
