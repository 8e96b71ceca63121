/** The lab in the browser: experiments as JSON, runs as streams of events. */
package io.github.virtualthread.sample.lab.web;
