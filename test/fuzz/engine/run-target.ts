/** A process that fuzzes one target: `node run-target.ts OPTIONS`, in JSON. Sends its results to its parent. */
import { loadTarget } from '../targets.ts';
import { fuzz, type FuzzOptions } from './fuzz.ts';
import { allowOnlyLoopback } from './only-loopback.ts';

allowOnlyLoopback();
const options = JSON.parse(process.argv[2] ?? '') as FuzzOptions;
const target = await loadTarget(options.name);
const result = await fuzz(target, {
  ...options,
  onProgress: (progress) => process.send?.(progress),
});
process.send?.(result, () => process.exit(0));
