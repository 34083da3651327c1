/** Shows a run of tap: a line for each process that ended, and each failure in full. */

/** Numbers of assertions. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** What a run of tap printed so far. */
interface Progress {
  /** Takes the next line of TAP. */
  read: (line: string) => void;
  /** Returns the numbers of assertions. */
  counts: () => Counts;
  /** Returns the test files of the processes that failed. */
  failed: () => string[];
}

const PROCESS_RESULT = /^(ok|not ok) \d+ - (.*?)(?: # time=([\d.]+)ms)?$/;
const TOTALS = /^# \{ total: .*\}$/;

/** Starts to show a run of several processes. `write` prints a line, `elapsedMs` is the time since the start. */
export function createProgress(
  processes: number,
  write: (line: string) => void,
  elapsedMs: () => number,
): Progress {
  let ended = 0;
  let totals = '';
  let isFailure = false;
  const failed: string[] = [];
  const countOf = (name: string): number =>
    Number(new RegExp(`\\b${name}: (\\d+)`).exec(totals)?.[1] ?? 0);

  function showProcess([, outcome = '', path = '', ms = '0']: readonly string[]): void {
    ended += 1;
    if (outcome !== 'ok') failed.push(path);
    const left = formatMinutes((elapsedMs() / ended) * (processes - ended));
    const name = path.replace(/^test\/\.groups\//, '').replace(/\.test\.ts$/, '');
    const seconds = `${(Number(ms) / 1_000).toFixed(1)} s`;
    write(`${outcome}  ${ended}/${processes}  ${name}  ${seconds}  (${left} left)`);
  }

  return {
    read(line) {
      const ofProcess = PROCESS_RESULT.exec(line);
      if (ofProcess) showProcess(ofProcess);
      if (TOTALS.test(line)) totals = line;
      // A failure consists of its title and a block in YAML, which is indented more.
      if (/^ *not ok /.test(line) || /^Bail out!/.test(line)) isFailure = true;
      else if (/^ *(ok |# Subtest|\d+\.\.\d+)/.test(line)) isFailure = false;
      if (isFailure) write(line);
      if (/^ *\.\.\.$/.test(line)) isFailure = false;
    },
    counts: () => ({ passed: countOf('pass'), failed: countOf('fail'), skipped: countOf('skip') }),
    failed: () => [...failed],
  };
}

const formatMinutes = (ms: number): string =>
  ms < 60_000 ? `${Math.ceil(ms / 1_000)} s` : `about ${Math.round(ms / 60_000)} min`;
