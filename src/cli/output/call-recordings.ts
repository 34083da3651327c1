import { toError } from '../../platform/error-origin.ts';
import { join } from 'node:path';
import { makeFolder, writeBinaryFile } from '../input/files.ts';

type CheckOptions = Parameters<typeof import('../../../conformance/index.ts').check>[0];
type Audio = Parameters<NonNullable<NonNullable<CheckOptions['voice']>['onAudio']>>[1];
type Exchange = Parameters<NonNullable<CheckOptions['onExchange']>>[0];

const FLAG = '--save-audio';

/** A folder that the audio of calls goes to. */
export interface AudioFolder {
  /** Writes each direction of a call that has any: `NAME-sandbox.opus`, `NAME-kit.opus`. */
  write: (name: string, audio: Audio) => void;
  /**
   * Says in one line what was written, and where.
   *
   * @throws {UsageError} about the first file that couldn't be: no run is lost for it half-way.
   */
  told: () => string;
}

/**
 * Makes the folder for the audio of a run. `names`: what the names of its files are made of.
 *
 * @throws {UsageError} where it can't be made, or nothing can be written into it.
 */
export async function audioFolder(folder: string, names: string): Promise<AudioFolder> {
  makeFolder(folder, FLAG);
  const { writeOgg } = await import('../../voice/opus/index.ts');
  const written = { files: 0, calls: 0 };
  let failure: Error | undefined;
  const writeFile = (name: string, packets: readonly Buffer[]): void => {
    if (failure !== undefined || packets.every(({ length }) => length === 0)) return;
    try {
      writeBinaryFile(join(folder, `${name}.opus`), writeOgg(packets), FLAG);
      written.files += 1;
    } catch (error) {
      failure = toError(error);
    }
  };
  return {
    write(name, audio) {
      const before = written.files;
      for (const side of ['sandbox', 'kit'] as const) {
        writeFile(`${name.replaceAll(/[^a-z0-9]+/gi, '-')}-${side}`, audio[side]);
      }
      if (written.files > before) written.calls += 1;
    },
    told() {
      if (failure !== undefined) throw failure;
      if (written.files === 0) return `No call had audio: nothing was written to ${folder}.`;
      const calls = `${written.calls} call${written.calls === 1 ? '' : 's'}`;
      return `The audio of ${calls} is in ${folder}, ${written.files} files ${names}-SIDE.opus.`;
    },
  };
}

/** What was said in the calls of a check, on its way to files. */
export interface CallRecordings extends Pick<AudioFolder, 'told'> {
  /** Told the audio of a call before the call itself, as the judge does. */
  onAudio: (step: string, audio: Audio) => void;
  /** Writes what was said in it, where it was a call. */
  onExchange: (exchange: Pick<Exchange, 'id' | 'step' | 'call'>) => void;
}

/**
 * Writes each direction of each call by the number that the report has for it:
 * `054-conversation-sandbox.opus`. Makes the folder.
 *
 * @throws {UsageError} as `audioFolder` does.
 */
export async function callRecordings(folder: string): Promise<CallRecordings> {
  const { write, told } = await audioFolder(folder, 'NUMBER-STEP');
  const waiting = new Map<string, Audio>();
  return {
    told,
    onAudio: (step, audio) => waiting.set(step, audio),
    onExchange({ id, step, call }) {
      const audio = call && waiting.get(step);
      if (!audio) return;
      waiting.delete(step);
      // Three digits, so that a listing has them in the order of the report.
      write(`${String(id).padStart(3, '0')}-${step}`, audio);
    },
  };
}
