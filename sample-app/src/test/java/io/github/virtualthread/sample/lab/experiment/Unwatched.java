package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Run;

/** Nobody watches. */
class Unwatched implements Run.Watcher {

    @Override
    public void progress(double done, String text) {}

    @Override
    public void begin(String line) {}

    @Override
    public void point(String line, double x, double y) {}
}
