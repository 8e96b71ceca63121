package io.github.virtualthread.context;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * An immutable map as an array of its entries. It is less than half as large as a hash map. Most logging systems copy it at the
 * start of each task, and they need no extra object per entry for that. Values may be null.
 */
final class EntryMap extends AbstractMap<String, String> {

    private final SimpleImmutableEntry<String, String>[] entries;

    @SuppressWarnings({"unchecked", "rawtypes"}) // of an array of a generic type
    EntryMap(Map<String, String> copied) {
        entries = copied.entrySet().stream().map(SimpleImmutableEntry::new).toArray(SimpleImmutableEntry[]::new);
    }

    @Override
    public int size() {
        return entries.length;
    }

    @Override
    public Set<Map.Entry<String, String>> entrySet() {
        return new AbstractSet<>() {

            @Override
            public Iterator<Map.Entry<String, String>> iterator() {
                return Arrays.<Map.Entry<String, String>>asList(entries).iterator();
            }

            @Override
            public int size() {
                return entries.length;
            }
        };
    }
}
