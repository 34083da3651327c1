import type { Diagnosis } from '../../conformance/index.ts';
import type { Area } from '../contract/index.ts';
import { randomSeed } from '../platform/random.ts';
import { resolveCallTarget, type CallTarget } from './call-target.ts';
import { connectionOf, type RunOptions } from './options.ts';
import { kitVersion } from './kit-version.ts';

/** Valid options of a diagnosis. */
export interface DiagnosisRun extends Pick<
  RunOptions,
  'headers' | 'clientCertificate' | 'proxies'
> {
  url: string;
  areas?: readonly Area[] | undefined;
  apiKey?: string | undefined;
  apiKeyHeader?: string | undefined;
  ca?: string | undefined;
  seed?: string | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  voice?: CallTarget | undefined;
}

/** Runs only the preflight of a check. */
export async function runDiagnosis({
  url,
  voice,
  seed = randomSeed(),
  headers,
  clientCertificate,
  proxies,
  ...options
}: DiagnosisRun): Promise<Diagnosis> {
  const { diagnose } = await import('../../conformance/index.ts');
  return diagnose({
    ...options,
    connection: connectionOf({ headers, clientCertificate, proxies }),
    target: url,
    kitVersion: kitVersion(),
    seed,
    needsVoice: voice?.url !== undefined || (options.areas?.includes('voice') ?? false),
    voice: resolveCallTarget(voice),
  });
}
