/** The files that the build writes to `dist/bundle/` under a fixed name, with their sources. */
export const entryPoints = {
  // The files that bin/ and package.json name.
  cli: 'cli/main.ts',
  index: 'library/index.ts',
  matchers: 'library/matchers/index.ts',
  // The threads and processes that the kit starts by their file name, next to its own file.
  'caller-process': 'load/voice/caller-process.ts',
  'line-thread': 'src/voice/speech/line-thread.ts',
  'pattern-thread': 'src/platform/pattern-thread.ts',
  'thread-entry': 'src/service/ingest/thread-entry.ts',
  'turn-thread-entry': 'src/service/turns/turn-thread-entry.ts',
} as const;
