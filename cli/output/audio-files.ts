import { join, relative, sep } from 'node:path';
import type { ExchangeRecord } from '../../src/contract/index.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { toError } from '../../src/platform/error-origin.ts';
import type { CallAudio } from '../../src/voice/call/index.ts';
import { createDirectory, writeBinaryFile } from './files.ts';
import type { Terminal } from './terminal.ts';

const OPTION = '--save-audio';

const SIDES = ['agent', 'user'] as const;
/** What a file contains: one side of a call, or both on two channels. */
type Side = (typeof SIDES)[number] | 'both';

/** The names of the sides in file names, which users know. */
const FILE_SIDES: Record<Side, string> = { agent: 'sandbox', user: 'kit', both: 'both' };

const fileNameOf = (name: string, side: Side): string =>
  `${name.replaceAll(/[^a-z0-9]+/gi, '-')}-${FILE_SIDES[side]}.opus`;

/** Relative links to the audio of both directions of a call. */
export interface AudioLinks {
  user: string;
  agent: string;
  /** Both directions at the same time; absent if they can't be played together. */
  both?: string;
}

/** The directory that the audio of calls is saved to. */
export interface AudioDirectory {
  /**
   * Writes the audio of the agent and of the user, `NAME-sandbox.opus` and `NAME-kit.opus`. If a
   * page plays the audio, also writes `NAME-both.opus`, with the user on the left channel.
   */
  save: (name: string, audio: CallAudio) => void;
  /** Returns relative links from a directory to the saved audio of a call. */
  linkFrom: (directory: string, name: string) => AudioLinks | undefined;
  /**
   * Writes a sentence about the saved files.
   *
   * @throws {UsageError} for the first file that could not be written. It is reported only now, so
   *   that the run is not lost.
   */
  summarize: (out: Terminal) => void;
}

/**
 * Creates the directory for the audio of a run. `nameParts` describes the file names. With
 * `playsBoth`, both directions are also saved together.
 *
 * @throws {UsageError} if it can't be created or written to.
 */
export async function createAudioDirectory(
  directory: string,
  nameParts: string,
  { playsBoth = false } = {},
): Promise<AudioDirectory> {
  createDirectory(directory, OPTION);
  const { writeOgg, writeStereoOgg } = await import('../../src/voice/opus/index.ts');
  const { alignCall } = await import('../../src/voice/call/align-call.ts');
  let calls = 0;
  let failure: Error | undefined;
  const saved = new Set<string>();
  const writeFile = (name: string, content: Buffer | undefined): void => {
    if (failure !== undefined || !content) return;
    try {
      writeBinaryFile(join(directory, name), content, OPTION);
      saved.add(name);
    } catch (error) {
      failure = toError(error);
    }
  };
  return {
    save(name, audio) {
      const before = saved.size;
      for (const side of SIDES) {
        const isEmpty = audio[side].every(({ length }) => length === 0);
        writeFile(fileNameOf(name, side), isEmpty ? undefined : writeOgg(audio[side]));
      }
      const aligned = alignCall(audio);
      const hasBoth = SIDES.every((side) => saved.has(fileNameOf(name, side)));
      const both = playsBoth && hasBoth && aligned && writeStereoOgg(aligned.user, aligned.agent);
      writeFile(fileNameOf(name, 'both'), both || undefined);
      if (saved.size > before) calls += 1;
    },
    linkFrom(from, name) {
      const linkTo = (side: Side): string => {
        const path = relative(from, join(directory, fileNameOf(name, side)));
        return path.split(sep).map(encodeURIComponent).join('/');
      };
      const hasBoth = SIDES.every((side) => saved.has(fileNameOf(name, side)));
      if (!hasBoth) return undefined;
      const links = { user: linkTo('user'), agent: linkTo('agent') };
      return saved.has(fileNameOf(name, 'both')) ? { ...links, both: linkTo('both') } : links;
    },
    summarize(out) {
      if (failure !== undefined) throw failure;
      const summary =
        saved.size === 0
          ? `No call had audio, so no file was saved to ${directory}.`
          : `Saved the audio of ${formatCount(calls, 'call')} to ${directory}: ${formatCount(saved.size, 'file')} named ${nameParts}-SIDE.opus.`;
      out.write(`${wrap(summary, out.width).join('\n')}\n`);
    },
  };
}

/** Saves the audio of the calls of a conformance run. */
interface CallRecorder extends Pick<AudioDirectory, 'summarize'> {
  /** Takes the audio of a call, which comes before its exchange. */
  onAudio: (step: string, audio: CallAudio) => void;
  /** Saves the audio under the number of the exchange. */
  onExchange: (exchange: Pick<ExchangeRecord, 'id' | 'step' | 'call'>) => void;
}

/**
 * Creates the directory, and a recorder that names files by the exchange number in the report, such
 * as `054-conversation-sandbox.opus`.
 *
 * @throws {UsageError} as `createAudioDirectory` does.
 */
export async function createCallRecorder(directory: string): Promise<CallRecorder> {
  const { save, summarize } = await createAudioDirectory(directory, 'NUMBER-STEP');
  const pending = new Map<string, CallAudio>();
  return {
    summarize,
    onAudio: (step, audio) => pending.set(step, audio),
    onExchange({ id, step, call }) {
      const audio = call && pending.get(step);
      if (!audio) return;
      pending.delete(step);
      // With three digits, a directory listing has the order of the report.
      save(`${String(id).padStart(3, '0')}-${step}`, audio);
    },
  };
}
