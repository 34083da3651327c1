/**
 * Replaces the package string-width in the bundle of yargs, which measures its own help with it. The
 * kit writes its help itself, and the real package loads the segmenter of ICU, which takes 30 ms.
 */
export default (text) => text.length;
