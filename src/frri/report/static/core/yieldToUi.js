/** Long work in short slices, so that the page stays responsive. */

const SLICE = 12; // milliseconds

/**
 * Do something with each item; pause whenever a slice of time is used up.
 *
 * @template T
 * @param {Iterable<T>} items
 * @param {function(T): (void|boolean)} work stops everything when it returns false
 * @param {function(): boolean} [isStale] asked after each pause; true gives up
 * @returns {Promise<boolean>} whether it was not given up
 */
export async function forEachYielding(items, work, isStale = () => false) {
  let start = performance.now();
  for (const item of items) {
    if (work(item) === false) return true;
    if (performance.now() - start > SLICE) {
      await new Promise((resolve) => {
        setTimeout(resolve);
      });
      if (isStale()) return false;
      start = performance.now();
    }
  }
  return true;
}
