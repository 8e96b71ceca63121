// OpenRewrite leaves files alone that Git ignores, as it does all below target/. So this is the root of a repository of its own.
['objects', 'refs'].each { new File(basedir, ".git/$it").mkdirs() }
new File(basedir, '.git/HEAD').text = 'ref: refs/heads/main\n'
return true
