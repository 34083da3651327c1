/** How the calls of `simulate` are placed, and where their audio is saved. */
import { dirname } from 'node:path';
import { resolveCallTarget } from '../../library/call-target.ts';
import { placesCalls, type SimulationRun } from '../../library/run-simulation.ts';
import type { Scenario, SimulatedSessionReport } from '../../src/contract/index.ts';
import type { FlagValues } from '../../src/options/table.ts';
import type { CallSummaries } from '../../src/service/index.ts';
import type { simulateOptions } from '../../src/service/simulator/options.ts';
import type { Invocation } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findVoiceFlag } from '../flags/voice-options.ts';
import { readEndpoint } from '../input/model-endpoints.ts';
import {
  createAudioDirectory,
  type AudioDirectory,
  type AudioLinks,
} from '../output/audio-files.ts';

/** What calls need from the process, and what receives their recordings. */
interface CallDeps extends Pick<Invocation, 'process' | 'origin'> {
  /** Receives the recordings of the calls that the HTML report shows. */
  summaries: CallSummaries;
}

/** Which sessions use voice, and how their calls are placed and saved. */
export interface PreparedCalls extends Pick<SimulationRun, 'channel' | 'voice'> {
  audio?: AudioDirectory | undefined;
}

/**
 * Returns how calls are placed, and creates the audio directory.
 *
 * @throws {UsageError} if a voice option is set, but no session uses voice.
 */
export async function prepareCalls(
  values: FlagValues<typeof simulateOptions>,
  scenarios: readonly Scenario[],
  { process, origin, summaries }: CallDeps,
): Promise<PreparedCalls> {
  const channel = values.byVoice ? 'voice' : undefined;
  if (!placesCalls(scenarios, channel)) {
    const unused = findVoiceFlag(values, origin);
    if (unused === undefined) return {};
    throw new UsageError(`${unused} needs --voice, or a scenario with channel: voice.`);
  }
  const { saveAudio: directory } = values;
  const audio =
    directory === undefined
      ? undefined
      : await createAudioDirectory(directory, 'SCENARIO-SAMPLE', { playsBoth: true });
  return {
    channel,
    voice: {
      ...resolveCallTarget(values.voice),
      speech: readEndpoint('SPEECH', process.env),
      transcription: readEndpoint('TRANSCRIBE', process.env),
      onRecorded:
        audio || values.html !== undefined
          ? (plan, call) => {
              audio?.save(audioNameOf(plan.scenario.id, plan.sample), call.audio);
              if (values.html !== undefined) summaries.add(plan, call);
            }
          : undefined,
    },
    audio,
  };
}

/** Returns a function that links from the page at a path to the saved audio of a session. */
export function findAudio(
  path = '',
  audio: AudioDirectory | undefined,
): (session: SimulatedSessionReport) => AudioLinks | undefined {
  return ({ scenario_id: id, sample }) => audio?.linkFrom(dirname(path), audioNameOf(id, sample));
}

const audioNameOf = (scenarioId: string, sample: number): string => `${scenarioId}-${sample}`;
