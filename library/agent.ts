import {
  startAgent as startConformingAgent,
  type AgentOptions,
  type RunningAgent,
} from '../reference-agent/index.ts';
import { isObject } from '../src/platform/json.ts';
import { didYouMean } from '../src/platform/suggest.ts';
import { deriveVoiceUrl } from '../src/voice/call/voice-target.ts';

/**
 * Starts a sandbox that obeys area B of the interface, or breaks it on demand.
 *
 * @throws {TypeError} if an option is unknown or invalid, or an address other than loopback has no key.
 * @throws {SandboxKitError} `start_failed`, for example if the port is in use or a certificate can't
 *   be used.
 */
export async function startAgent(options: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  if (!isObject(options) || options.mutant === undefined) return startConformingAgent(options);
  const { mutant: id, ...others } = options;
  const { mutantIds, startMutant } = await import('../conformance/index.ts');
  const ids = mutantIds('sandbox');
  if (!ids.includes(id)) {
    const hint = didYouMean(id, ids, 'sandbox-kit selftest --list lists all.');
    throw new TypeError(`startAgent: Unknown mutant ${JSON.stringify(id)}. ${hint}`);
  }
  for (const name of ['host', 'port', 'tls'] as const) {
    if (options[name] === undefined || options[name] === null) continue;
    throw new TypeError(
      `startAgent: mutant and ${name} can't be combined: a mutant listens on a free port of 127.0.0.1, without TLS.`,
    );
  }
  const agent = await startConformingAgent(others);
  const mutant = await startMutant(id, agent.url);
  if (!mutant) throw new Error(`The mutant ${id} is not a mutant of a sandbox.`);
  return {
    ...agent,
    url: mutant.url,
    voiceUrl: agent.voiceUrl && deriveVoiceUrl(mutant.url),
    async stop() {
      await mutant.stop();
      await agent.stop();
    },
  };
}
