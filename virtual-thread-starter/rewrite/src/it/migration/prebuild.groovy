// OpenRewrite leaves files alone that Git ignores, as it does all below target/. So this is the root of a repository of its own.
['objects', 'refs'].each { new File(basedir, ".git/$it").mkdirs() }
new File(basedir, '.git/HEAD').text = 'ref: refs/heads/main\n'

// What each application has before the recipe runs: in after/ is only what the recipe changes.
basedir.eachDir { module ->
    def sources = new File(module, 'src')
    sources.exists() && sources.eachFileRecurse(groovy.io.FileType.FILES) {
        def copy = new File(module, 'before/' + sources.toPath().relativize(it.toPath()))
        copy.parentFile.mkdirs()
        copy.bytes = it.bytes
    }
}
return true
