import { readSeedFile, type SeedFile } from '../input/seed-file.ts';
import { terminalOf } from './terminal.ts';

/** Tells a terminal, and no pipe, how far a seed is. */
export interface SeedTeller {
  /** @throws {UsageError} as `readSeedFile` does. */
  read: (path: string | undefined) => SeedFile | undefined;
  tell: (done: number, total: number) => void;
  /** Takes away what was told. */
  end: () => void;
}

/** A line that is gone when the service is up. */
export function seedTeller(): SeedTeller {
  const terminal = terminalOf(process.stderr);
  return {
    read(path) {
      if (path === undefined) return undefined;
      terminal.live('  reading the seed');
      return readSeedFile(path);
    },
    tell(done, total) {
      terminal.live(`  ${done} of ${total} sessions of the seed are kept`);
    },
    end() {
      terminal.live('');
    },
  };
}
